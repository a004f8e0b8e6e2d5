"""The figures of a demo, from its record: ``turns.json`` and ``timeline.json``."""

import platform
from dataclasses import asdict, fields
from typing import Any, Final

import numpy as np
import psutil
from numpy.typing import NDArray

from taoxr import __version__
from taoxr.client import Event, MediaChunk, Motion, ServerInfo
from taoxr_runtime.demo.record import Record, Turn

TIMELINE: Final = "timeline.json"
POSES: Final = "poses.npz"
VOICES: Final = "voices.wav"
_DEFAULT_PERIOD_US: Final = 33_333


def av_skew_ms(record: Record, turn: Turn) -> NDArray[np.float64]:
    """How far picture and sound of a turn are apart in the film, one value per picture, in milliseconds.

    Picture n is on the screen at n / fps. What it shows is the face of the media time that was
    heard when its state was taken (a live display task, which may run late on a busy machine), or
    that of the newest frame that had arrived by then, when the frames were late. What is heard at
    n / fps follows from the sound device's log. The skew is the shown media time minus the heard
    one: negative when the lips are behind. It grows with frames that arrive after their audio, with
    a display that takes its state late, and with a sound device that stalls. Pictures at whose time
    nothing is heard have none. A picture stays on screen for 1 / fps; that half period of lag on
    average is not counted.
    """
    skews: list[float] = []
    for number, taken_us in enumerate(record.ticks):
        heard = turn.playback.heard_at(round(number * 1e6 / record.fps))
        aimed = turn.playback.heard_at(taken_us)
        if heard is None or aimed is None:
            continue
        skews.append((shown_us(turn, taken_us, aimed) - heard) / 1e3)
    return np.array(skews)


def shown_us(turn: Turn, taken_us: int, aimed_us: int) -> int:
    """Media time of the face that can be shown with the frames that had arrived by ``taken_us``."""
    times = [c.frame_times_us for at, c in turn.chunks if at <= taken_us and len(c.frame_times_us)]
    if not times:
        return 0
    period = int(times[-1][-1] - times[-1][-2]) if len(times[-1]) > 1 else _DEFAULT_PERIOD_US
    newest = max(int(t[-1]) for t in times)
    # The newest frame stands for its own period.
    return aimed_us if aimed_us < newest + period else newest


def turn_figures(record: Record, turn: Turn) -> dict[str, Any]:
    """One entry of ``turns``."""
    asked = record.asked[turn.asked]
    final = [t.text for _, t in turn.transcripts if t.is_final]
    stages: dict[str, float] = dict(turn.metrics.stages_ms) if turn.metrics else {}
    if asked.end_us is not None:
        if turn.chunks:
            stages["client_first_media"] = (turn.chunks[0][0] - asked.end_us) / 1e3
        if turn.playback.first_heard_us is not None:
            stages["client_first_heard"] = (turn.playback.first_heard_us - asked.end_us) / 1e3
    skew = av_skew_ms(record, turn)
    size = np.abs(skew)
    heard = turn.states[-1][1].heard_text if turn.ended else ""
    return {
        "turn_id": turn.turn_id,
        "user": {"source": str(asked.prompt.source), "text": asked.prompt.text},
        "transcript": final[-1] if final else asked.prompt.text,
        "answer": turn.answer.strip(),
        "heard": heard.strip(),
        "state": str(turn.state) if turn.state else "unknown",
        "stages_ms": {name: round(ms, 1) for name, ms in sorted(stages.items())},
        "av_skew_ms": {
            "p50": _percentile(size, 50),
            "p99": _percentile(size, 99),
            "mean_signed": round(float(skew.mean()), 2) if len(skew) else None,
            "pictures": len(skew),
        },
        "audio_s": round(sum(len(c.pcm) for _, c in turn.chunks) / record.started.audio_out_hz, 3),
        "frames": sum(len(c.frame_times_us) for _, c in turn.chunks),
        "underruns": turn.playback.underruns,
        "tokens": (
            {
                "prompt": turn.metrics.prompt_tokens,
                "reused": turn.metrics.reused_tokens,
                "answer": turn.metrics.answer_tokens,
            }
            if turn.metrics
            else None
        ),
    }


def summary(record: Record, info: ServerInfo | None) -> dict[str, Any]:
    """The whole of ``turns.json``, without what the film adds."""
    late = [taken - round(n * 1e6 / record.fps) for n, taken in enumerate(record.ticks)]
    return {
        "version": 1,
        "turns": [turn_figures(record, turn) for turn in record.turns],
        "conversation_s": round((record.end_us or record.clock.now_us()) / 1e6, 2),
        "display": {"fps": record.fps, "late_ms": {
            "p50": _percentile(np.array(late) / 1e3, 50), "p99": _percentile(np.array(late) / 1e3, 99)}},
        "machine": _machine(info),
    }  # fmt: skip


def poses(record: Record) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """All poses of the body, in the order in which they came: the arrays of ``poses.npz``.

    Returns:
        Local rotations from the T-pose float32 [k, bones, 4], and translations of the hips [k, 3] in metres.
    """
    tracks = [a.event.body for a in record.arrivals if isinstance(a.event, MediaChunk | Motion)]
    bones = 0 if record.started.bones is None else len(record.started.bones.names)
    rotations = [track.rotations.reshape(-1, bones, 4) for track in tracks if len(track.times_us)]
    hips = [track.hips for track in tracks if len(track.times_us)]
    return np.concatenate([np.zeros((0, bones, 4), np.float32), *rotations]), np.concatenate(
        [np.zeros((0, 3), np.float32), *hips]
    )


def timeline(record: Record) -> dict[str, Any]:
    """The whole of ``timeline.json``: everything that happened, microseconds on the film's clock."""
    return {
        "version": 1,
        "clock": "microseconds since the film's first picture",
        "fps": record.fps,
        "audio_out_hz": record.started.audio_out_hz,
        "blendshapes": list(record.started.rig.names),
        "asked": [
            {
                "source": str(a.prompt.source), "text": a.prompt.text, "start_us": a.start_us,
                "end_us": a.end_us, "turn_ids": a.turn_ids,
            }
            for a in record.asked
        ],
        "events": [{"at_us": a.at_us, **_event(a.event)} for a in record.arrivals],
        "heard": [
            {
                "turn_id": turn.turn_id,
                "spans": [[s.wall_us, s.media_us, s.samples] for s in turn.playback.spans],
            }
            for turn in record.turns
        ],
        "ticks_us": record.ticks,
    }  # fmt: skip


def _event(event: Event) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": type(event).__name__}
    for item in fields(event):
        if not item.repr:  # a secret
            continue
        value: Any = getattr(event, item.name)
        match item.name:
            case "pcm":
                out["samples"] = len(value)
            case "frame_times_us":
                out[item.name] = [int(time_us) for time_us in value]
            case "frame_weights":
                # Through Python's floats, so that 0.3 is written as 0.3.
                out[item.name] = [[round(float(weight), 4) for weight in row] for row in value]
            case "phonemes":
                out[item.name] = [[p.symbol, p.start_us, p.end_us] for p in value]
            case "body":
                out["body_times_us"] = value.times_us.tolist()
            case "cues":
                out[item.name] = [asdict(cue) for cue in value]
            case "rig":
                out[item.name] = asdict(value)
            case "error" | "code":
                out[item.name] = str(value)
            case "capabilities" | "tracks":
                out[item.name] = sorted(map(str, value))
            case "lost_turn" | "bones":
                out[item.name] = None if value is None else asdict(value)
            case _:
                out[item.name] = value
    return out


def _percentile(values: NDArray[np.float64], q: float) -> float | None:
    return round(float(np.percentile(values, q)), 2) if len(values) else None


def _machine(info: ServerInfo | None) -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": psutil.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "python": platform.python_version(),
        "taoxr": __version__,
        "workers": [
            {"role": w.role, "model": w.model, "rss_mib": round(w.rss_bytes / 2**20), "restarts": w.restarts}
            for w in (info.workers if info else ())
        ],
    }
