"""A conversation by microphone and loudspeaker."""

import asyncio
from collections.abc import Sequence

from taoxr.client import Conversation, Event, MediaChunk, SpeechActivity, State, TurnState
from taoxr_runtime.demo.live import AUDIO_IN_HZ, Live
from taoxr_runtime.demo.mic import Speaker, open_sound
from taoxr_runtime.demo.record import Asked, Prompt, Record, Source


class MicrophoneLive(Live):
    """Listens until it is cancelled; the bridge hears where the user's turns begin and end."""

    listens = True
    _speaker: Speaker | None = None

    async def speak(self, conversation: Conversation, record: Record) -> None:
        """Sends what the microphone hears."""
        with open_sound(AUDIO_IN_HZ, record.started.audio_out_hz) as (microphone, self._speaker):
            async for block in microphone:
                if not record.microphone:
                    record.microphone_us = record.clock.now_us() - len(block) * 1_000_000 // AUDIO_IN_HZ
                record.microphone.append(block)
                await conversation.send_audio(block)

    async def ask_all(self, conversation: Conversation, record: Record, prompts: Sequence[Prompt]) -> None:
        """Waits until it is cancelled."""
        self.tell("Speak (best with headphones). [bold]Ctrl-C[/] ends the conversation and makes the film.")
        await asyncio.Event().wait()

    def note(self, record: Record, now_us: int, event: Event) -> None:
        """Also notes when the user speaks, and plays the answer."""
        if isinstance(event, SpeechActivity):
            at_us = record.microphone_us + event.offset_us
            if event.started:
                record.asked.append(Asked(Prompt(Source.MICROPHONE), at_us))
            elif record.asked:
                record.asked[-1].end_us = at_us
        if self._speaker is not None:
            if isinstance(event, MediaChunk):
                self._speaker.put(event.pcm)
            elif isinstance(event, TurnState) and event.state in (State.INTERRUPTED, State.FAILED):
                self._speaker.clear()
        super().note(record, now_us, event)
