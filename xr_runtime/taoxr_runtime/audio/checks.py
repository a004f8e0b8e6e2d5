"""Check of microphone and loudspeaker for ``taoxr doctor``."""

from collections.abc import Iterator
from typing import Final

from taoxr.doctor import Entry, ok, parts, warn
from taoxr.errors import UnavailableError
from taoxr.portaudio import sound_library

_WITHOUT: Final = "taoxr talk --text, demo, say and render work without"
# Role, PortAudio's word, index in sounddevice's pair of defaults.
_ROLES: Final = (("microphone", "input", 0), ("loudspeaker", "output", 1))


def checks() -> Iterator[Entry]:
    """PortAudio loads, and there are a microphone and a loudspeaker."""
    try:
        sounddevice = sound_library()
    except UnavailableError as error:
        what, advice = parts(error)
        yield warn("sound", what, f"{advice}; {_WITHOUT}")
        return
    yield ok("sound", sounddevice.get_portaudio_version()[1].partition(",")[0])
    for role, kind, index in _ROLES:
        try:
            devices = [d for d in sounddevice.query_devices() if d[f"max_{kind}_channels"] > 0]
            default = sounddevice.default.device[index]
            chosen = sounddevice.query_devices(default, kind) if devices and default >= 0 else None
        except (sounddevice.PortAudioError, ValueError) as error:
            yield warn(role, str(error), f"see whether a sound server runs; {_WITHOUT}")
            continue
        if chosen is None:
            seen = f"no default among {len(devices)} devices" if devices else "none"
            yield warn(role, seen, f"connect one, or start the sound server (PipeWire); {_WITHOUT}")
        else:
            latency = chosen[f"default_low_{kind}_latency"] * 1e3
            yield ok(role, f"{chosen['name']}, {chosen['default_samplerate']:.0f} Hz, {latency:.0f} ms")
