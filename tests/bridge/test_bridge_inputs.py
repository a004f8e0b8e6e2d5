"""The odd inputs that docs/api.md lists, at every rpc that takes them."""

import asyncio
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import Message
from grpc import StatusCode, aio

from taoxr.client import ConversationOptions, InputMode, Pong, State, TurnState
from taoxr.client.channel import open_channel
from taoxr.errors import InvalidInputError, TaoxrError
from taoxr.interop.a2f.v1 import a2f_pb2
from taoxr.rpc import error_of
from taoxr.v1 import animation_pb2, common_pb2, speech_pb2
from taoxr.v1 import conversation_pb2 as pb

pytestmark = pytest.mark.process

CONVERSE = "taoxr.v1.ConversationService/Converse"
SAY = "taoxr.v1.ConversationService/Say"
ANIMATE = "taoxr.v1.AnimationService/AnimateAudio"
ANIMATE_TEXT = "taoxr.v1.AnimationService/AnimateText"
RECOGNIZE = "taoxr.v1.SpeechService/Recognize"
SYNTHESIZE = "taoxr.v1.SpeechService/Synthesize"
A2F = "nvidia_ace.services.a2f_controller.v1.A2FControllerService/ProcessAudioStream"
STREAMS = (CONVERSE, RECOGNIZE, ANIMATE, A2F)
TEXTS = {
    SAY: pb.SayRequest,
    ANIMATE_TEXT: animation_pb2.AnimateTextRequest,
    SYNTHESIZE: speech_pb2.SynthesizeRequest,
}


def config(rpc: str, rate: int = 16000) -> Message:
    """The first request of a stream."""
    audio = common_pb2.AudioFormat(sample_rate_hz=rate)
    if rpc == CONVERSE:
        return pb.ConverseRequest(config=pb.ConversationConfig(audio_in=audio))
    if rpc == RECOGNIZE:
        return speech_pb2.RecognizeRequest(config=speech_pb2.RecognizeConfig(audio=audio))
    if rpc == ANIMATE:
        return animation_pb2.AnimateAudioRequest(config=animation_pb2.AnimateAudioConfig(audio=audio))
    header = a2f_pb2.AudioHeader(channel_count=1, samples_per_second=rate, bits_per_sample=16)
    return a2f_pb2.AudioStream(audio_stream_header=a2f_pb2.AudioStreamHeader(audio_header=header))


def sound(rpc: str, pcm: bytes) -> Message:
    """A piece of audio in a stream."""
    if rpc == CONVERSE:
        return pb.ConverseRequest(audio=pb.AudioInput(pcm=pcm))
    if rpc == RECOGNIZE:
        return speech_pb2.RecognizeRequest(pcm=pcm)
    if rpc == ANIMATE:
        return animation_pb2.AnimateAudioRequest(pcm=pcm)
    return a2f_pb2.AudioStream(audio_with_emotion=a2f_pb2.AudioWithEmotion(audio_buffer=pcm))


async def refusal(target: str, rpc: str, *requests: Message | bytes) -> aio.AioRpcError:
    """The error with which a call ends."""
    sent = [r if isinstance(r, bytes) else r.SerializeToString() for r in requests]
    async with open_channel(target) as channel:
        if rpc in STREAMS:
            call: Any = channel.stream_stream(f"/{rpc}")(iter(sent))
        else:
            call = channel.unary_stream(f"/{rpc}")(sent[0])
        with pytest.raises(aio.AioRpcError) as raised:
            async for _ in call:
                pass
        return raised.value


def field_of(error: aio.AioRpcError) -> str:
    """The field that is named in the details."""
    assert error.code() is StatusCode.INVALID_ARGUMENT, error
    known = error_of(error)
    assert isinstance(known, InvalidInputError)
    return known.field


@pytest.fixture
async def target(quick_bridge):
    async with quick_bridge() as (client, fakes):
        yield fakes.bridge
        # Whatever came, the bridge goes on.
        assert len((await client.say("hello")).pcm)


@pytest.mark.parametrize("rpc", STREAMS)
async def test_order_and_rates(target: str, rpc: str):
    piece = sound(rpc, bytes(640))
    first = "stream_part" if rpc == A2F else "payload"
    assert field_of(await refusal(target, rpc)) == first
    assert field_of(await refusal(target, rpc, piece)) == first  # audio before config
    assert field_of(await refusal(target, rpc, config(rpc), config(rpc))) == first
    for rate in (0, 1, 7999, 48001, (1 << 31) - 1):
        field = field_of(await refusal(target, rpc, config(rpc, rate)))
        assert field.endswith(("sample_rate_hz", "samples_per_second"))
    if rpc != A2F:  # whose pieces may have any size
        assert field_of(await refusal(target, rpc, config(rpc), sound(rpc, b"xyz"))).endswith("pcm")
        too_long = bytes(256 * 1024 + 2)
        assert field_of(await refusal(target, rpc, config(rpc), sound(rpc, too_long))).endswith("pcm")


@pytest.mark.parametrize("rpc", TEXTS)
async def test_texts(target: str, rpc: str):
    for text in ("", " \n", "x" * 4001, "x" * 1_000_000):
        assert field_of(await refusal(target, rpc, TEXTS[rpc](text=text))) == "text"
    # Field 1 with two bytes that are no UTF-8.
    assert field_of(await refusal(target, rpc, b"\x0a\x02\xff\xfe")) == "request"
    over = await refusal(target, rpc, TEXTS[rpc](text="x" * 1_100_000))
    assert over.code() is StatusCode.RESOURCE_EXHAUSTED


async def test_texts_in_a_conversation(target: str):
    first = config(CONVERSE)
    for text in ("x" * 4001, "x" * 1_000_000):
        request = pb.ConverseRequest(text=pb.TextInput(text=text))
        assert field_of(await refusal(target, CONVERSE, first, request)) == "text.text"
    bad = b"\x1a\x04\x0a\x02\xff\xfe"  # text { text: two bytes that are no UTF-8 }
    assert field_of(await refusal(target, CONVERSE, first, bad)) == "request"
    over = pb.ConverseRequest(text=pb.TextInput(text="x" * 1_100_000))
    assert (await refusal(target, CONVERSE, first, over)).code() is StatusCode.RESOURCE_EXHAUSTED


async def test_words_that_look_like_values_are_words(quick_bridge):
    async with quick_bridge() as (client, fakes), client.converse() as conversation:
        for text in ("NaN", "null", "-inf", "\u202eabc\u0000"):
            await conversation.send_text(text)
            async for event in conversation:
                if isinstance(event, TurnState) and event.state.ended:
                    assert event.state is State.DONE
                    break
            assert fakes.llm.requests[-1].messages[-1].content == text


async def test_empty_audio_is_nothing(quick_bridge):
    async with quick_bridge() as (client, _fakes):
        options = ConversationOptions(audio_in_hz=16000, input_mode=InputMode.PUSH_TO_TALK)
        async with client.converse(options) as conversation:
            await conversation._send(sound(CONVERSE, b""))  # the client itself sends nothing then
            await conversation.end_of_user_turn()
            await conversation.ping()
            async for event in conversation:
                assert not isinstance(event, TurnState)
                if isinstance(event, Pong):
                    break
        nothing = np.zeros(0, np.int16)
        assert len((await client.animate_audio(nothing, 16000)).times_us) == 0
    # Audio2Face-3D clients are told: a clip without a sample is taken for a mistake.


async def test_empty_clip_of_audio2face(target: str):
    end = a2f_pb2.AudioStream(end_of_audio=a2f_pb2.AudioStream.EndOfAudio())
    error = await refusal(target, A2F, config(A2F), sound(A2F, b""), end)
    assert field_of(error) == "audio_with_emotion.audio_buffer"


async def test_a_deadline_ends_the_work(quick_bridge):
    async with quick_bridge() as (client, fakes), open_channel(fakes.bridge) as channel:
        fakes.llm.hold.clear()
        call: Any = channel.stream_stream(f"/{CONVERSE}")(timeout=0.5)
        await call.write(pb.ConverseRequest(config=pb.ConversationConfig()).SerializeToString())
        await call.write(pb.ConverseRequest(text=pb.TextInput(text="hello")).SerializeToString())
        with pytest.raises(aio.AioRpcError) as raised:
            async for _ in call:
                pass
        assert raised.value.code() is StatusCode.DEADLINE_EXCEEDED
        assert isinstance(error_of(raised.value), TaoxrError)
        async with asyncio.timeout(60):
            await fakes.llm.was_cancelled.wait()
            while (await client.server_info()).active_conversations:  # noqa: ASYNC110  seen from outside
                await asyncio.sleep(0.02)
