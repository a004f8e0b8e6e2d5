"""SpeechService and AnimateText, with fake workers behind a real bridge and real gRPC."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import pairwise

import numpy as np
import pytest
from grpc import StatusCode, aio
from numpy.typing import NDArray

from taoxr.client import ConversationOptions, MediaChunk, SpeechActivity, Transcript
from taoxr.errors import InvalidInputError, UnavailableError
from taoxr.v1 import common_pb2, speech_pb2
from taoxr.v1.speech_pb2_grpc import SpeechServiceStub

pytestmark = pytest.mark.process

RATE = 16000
LOUD = np.full(RATE // 10, 5000, np.int16)
QUIET = np.zeros(RATE // 10, np.int16)
TEXT = "Good morning to you. It is a fine day, is it not?"


async def pieces(*audio: NDArray[np.int16]) -> AsyncIterator[NDArray[np.int16]]:
    for piece in audio:
        yield piece


async def test_recognize_tells_activity_and_transcripts(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.ear.text = "hello there"
        audio = pieces(QUIET, LOUD, LOUD, QUIET)
        heard = [event async for event in client.recognize(audio, RATE, partials=True)]
    assert heard == [
        SpeechActivity(0, "", 0, True, 100_000),
        Transcript(0, "", 0, "hello", False, 100_000, 200_000),
        SpeechActivity(0, "", 0, False, 300_000),
        Transcript(0, "", 0, "hello there", True, 100_000, 300_000),
    ]


async def test_recognize_ends_an_utterance_only_when_told_in_push_to_talk(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        config = speech_pb2.RecognizeConfig(
            audio=common_pb2.AudioFormat(sample_rate_hz=RATE), input_mode="INPUT_MODE_PUSH_TO_TALK"
        )
        requests = [
            speech_pb2.RecognizeRequest(config=config),
            speech_pb2.RecognizeRequest(pcm=LOUD.tobytes()),
            speech_pb2.RecognizeRequest(pcm=QUIET.tobytes()),
            speech_pb2.RecognizeRequest(end_of_utterance=speech_pb2.EndOfUtterance()),
        ]
        call = SpeechServiceStub(client._channel).Recognize(iter(requests))
        started, *responses = [response async for response in call]
    assert started.started.sample_rate_hz == RATE
    assert [r.WhichOneof("payload") for r in responses] == [
        "speech_activity",
        "speech_activity",
        "transcript",
    ]
    assert responses[-1].transcript.is_final


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"audio": {"sample_rate_hz": 0}}, "config.audio.sample_rate_hz"),
        ({"audio": {"sample_rate_hz": RATE}, "input_mode": 9}, "config.input_mode"),
        ({"audio": {"sample_rate_hz": RATE}, "endpoint_silence_ms": 5001}, "config.endpoint_silence_ms"),
        ({"audio": {"sample_rate_hz": RATE}, "endpoint_silence_ms": -1}, "config.endpoint_silence_ms"),
    ],
)
async def test_recognize_refuses_a_wrong_config(fake_bridge, config, field):
    async with fake_bridge() as (client, _fakes):
        requests = iter([speech_pb2.RecognizeRequest(config=speech_pb2.RecognizeConfig(**config))])
        call = SpeechServiceStub(client._channel).Recognize(requests)
        with pytest.raises(aio.AioRpcError) as caught:
            await call.read()
        assert caught.value.code() is StatusCode.INVALID_ARGUMENT
        assert caught.value.details().startswith(field)


@pytest.mark.parametrize(
    "requests",
    [
        [],
        [speech_pb2.RecognizeRequest(pcm=b"\0\0")],
        [speech_pb2.RecognizeRequest()],
        [speech_pb2.RecognizeRequest(config={"audio": {"sample_rate_hz": RATE}})] * 2,
        [
            speech_pb2.RecognizeRequest(config={"audio": {"sample_rate_hz": RATE}}),
            speech_pb2.RecognizeRequest(pcm=b"\0"),
        ],
    ],
    ids=["nothing", "audio first", "empty request", "config twice", "half a sample"],
)
async def test_recognize_refuses_wrong_requests(fake_bridge, requests):
    async with fake_bridge() as (client, _fakes):
        call = SpeechServiceStub(client._channel).Recognize(iter(requests))
        with pytest.raises(aio.AioRpcError) as caught:
            async for _ in call:
                pass
        assert caught.value.code() is StatusCode.INVALID_ARGUMENT


async def test_client_tells_why_a_recognition_was_refused(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        with pytest.raises(InvalidInputError, match=r"config\.audio\.sample_rate_hz: got '7000'"):
            _ = [event async for event in client.recognize(pieces(LOUD), 7000)]


async def test_error_in_the_callers_audio_comes_back_to_the_caller(fake_bridge):
    async def broken() -> AsyncIterator[NDArray[np.int16]]:
        yield LOUD
        raise OSError("the microphone is gone")

    async with fake_bridge() as (client, _fakes):
        with pytest.raises(OSError, match="the microphone is gone"):
            _ = [event async for event in client.recognize(broken(), RATE)]
        # The connection is as good as before.
        assert len([e async for e in client.recognize(pieces(LOUD, QUIET), RATE)]) == 3


async def test_recognition_can_be_left_early(fake_bridge):
    closed = False

    async def endless() -> AsyncIterator[NDArray[np.int16]]:
        nonlocal closed
        try:
            while True:
                yield LOUD
                yield QUIET
        finally:
            closed = True

    async with fake_bridge() as (client, _fakes):
        audio = endless()
        async with aclosing(client.recognize(audio, RATE)) as heard:
            assert (await anext(heard)).started
        await audio.aclose()
    assert closed


async def test_lost_ear_ends_a_recognition_with_unavailable(fake_bridge):
    async with fake_bridge() as (client, fakes):

        async def audio() -> AsyncIterator[NDArray[np.int16]]:
            yield LOUD
            await fakes.stop("ear")
            yield QUIET

        with pytest.raises(UnavailableError):
            _ = [event async for event in client.recognize(audio(), RATE)]


async def test_synthesize_speaks_what_say_speaks(fake_bridge):
    async with fake_bridge() as (client, fakes):
        spoken = await client.synthesize(TEXT)
        texts = list(fakes.tts.texts)
        said = await client.say(TEXT)
    assert fakes.tts.texts == texts * 2
    assert spoken.sample_rate_hz == said.sample_rate_hz
    np.testing.assert_array_equal(spoken.pcm, said.pcm)
    assert spoken.phonemes == said.phonemes


async def test_synthesize_streams_without_gaps(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        call = SpeechServiceStub(client._channel).Synthesize(speech_pb2.SynthesizeRequest(text=TEXT))
        first, *rest = [response async for response in call]
    rate = first.started.sample_rate_hz
    chunks = [response.chunk for response in rest]
    for before, after in pairwise(chunks):
        assert after.start_us == before.start_us + len(before.pcm) // 2 * 1_000_000 // rate
    assert " ".join(c.clause_text for c in chunks if c.clause_text) == TEXT
    assert all(bool(c.phonemes) == bool(c.clause_text) for c in chunks)
    assert chunks[0].start_us == 0


@pytest.mark.parametrize("speed", [0.4, 2.1, -1.0, float("nan"), float("inf")])
async def test_synthesize_refuses_a_wrong_speed(fake_bridge, speed):
    async with fake_bridge() as (client, _fakes):
        with pytest.raises(InvalidInputError, match="speed"):
            await client.synthesize("Hello.", speed=speed)


async def test_speed_seed_and_speaker_reach_the_voice(fake_bridge):
    async with fake_bridge() as (client, fakes):
        await client.synthesize("Hello.", speed=1.5, seed=7, speaker="Eve")
        await client.say("Hello.", speed=0.75, seed=2**32 - 1, speaker="1")
        options = ConversationOptions(speed=1.25, voice_seed=3, speaker="Bob")
        async with client.converse(options) as conversation:
            await conversation.send_text("Hello.")
            async for event in conversation:
                if isinstance(event, MediaChunk):
                    break
    assert fakes.tts.styles[:3] == [(1.5, 7, "Eve"), (0.75, 2**32 - 1, "1"), (1.25, 3, "Bob")]


async def test_a_face_that_hears_the_voice_gets_whole_clauses(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.tts.piece = 2000
        piecewise = await client.say(TEXT)
        spans, fakes.a2bs.asked, fakes.a2bs.whole_clauses = fakes.a2bs.asked, 0, True
        whole = await client.say(TEXT)
    np.testing.assert_array_equal(whole.face.times_us, piecewise.face.times_us)
    np.testing.assert_array_equal(whole.face.weights, piecewise.face.weights)
    np.testing.assert_array_equal(whole.pcm, piecewise.pcm)
    assert fakes.a2bs.asked == len(fakes.tts.texts) // 2 < spans


async def test_an_unknown_speaker_is_refused_before_anything_is_said(fake_bridge):
    async with fake_bridge() as (client, fakes):
        for call in (client.say, client.synthesize):
            with pytest.raises(InvalidInputError, match=r"^speaker: got 'Mia', expected one of .*Eve"):
                await call("Hello.", speaker="Mia")
        with pytest.raises(InvalidInputError, match=r"config\.speaker: got 'Mia', expected one of .*Eve"):
            async with client.converse(ConversationOptions(speaker="Mia")):
                pass
    assert fakes.tts.texts == []


@pytest.mark.parametrize("speed", [0.4, 2.1, float("nan")])
async def test_say_and_converse_refuse_a_wrong_speed(fake_bridge, speed):
    async with fake_bridge() as (client, _fakes):
        with pytest.raises(InvalidInputError, match="speed"):
            await client.say("Hello.", speed=speed)
        with pytest.raises(InvalidInputError, match=r"config\.speed"):
            async with client.converse(ConversationOptions(speed=speed)):
                pass


async def test_animate_text_makes_the_frames_of_say(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        animated = await client.animate_text(TEXT, frame_rate=60)
        said = await client.say(TEXT, frame_rate=60)
    assert animated.face.rig == said.face.rig
    assert animated.face.rig.frame_rate == 60
    assert not animated.face.rig.provisional
    np.testing.assert_array_equal(animated.face.times_us, said.face.times_us)
    np.testing.assert_array_equal(animated.face.weights, said.face.weights)
    assert animated.phonemes == said.phonemes
    assert animated.duration_us == len(said.pcm) * 1_000_000 // said.sample_rate_hz


async def test_text_without_sound_gives_an_empty_result(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        spoken = await client.synthesize("?!")
        animated = await client.animate_text("?!")
    assert len(spoken.pcm) == len(animated.face.times_us) == animated.duration_us == 0


@pytest.mark.parametrize("text", ["", "   ", "a" * 4001])
async def test_texts_out_of_range_are_refused(fake_bridge, text):
    async with fake_bridge() as (client, _fakes):
        with pytest.raises(InvalidInputError, match="text"):
            await client.synthesize(text)
        with pytest.raises(InvalidInputError, match="text"):
            await client.animate_text(text)
