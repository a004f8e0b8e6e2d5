"""The sound devices of the machine, through PortAudio: the only importer of ``sounddevice``."""

import importlib
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from taoxr.errors import InvalidInputError, UnavailableError

Kind: TypeAlias = Literal["input", "output"]

_OPTIONS: Final = {"input": "--microphone", "output": "--loudspeaker"}


@dataclass(frozen=True, slots=True)
class Device:
    """A sound device.

    Attributes:
        number: PortAudio's number of it; changes when devices come and go.
        name: Its name.
        inputs: Channels that it hears with.
        outputs: Channels that it plays on.
        rate_hz: Its own rate.
        default_for: Of which kinds it is the system's default.
    """

    number: int
    name: str
    inputs: int
    outputs: int
    rate_hz: int
    default_for: frozenset[Kind]


def sound_library() -> Any:
    """The module ``sounddevice``; it has no types.

    Raises:
        UnavailableError: The extra or PortAudio is missing; says what to do.
    """
    try:
        return importlib.import_module("sounddevice")
    except ModuleNotFoundError as error:
        raise UnavailableError("sound needs the package `sounddevice`: pip install 'taoxr[audio]'") from error
    except OSError as error:
        raise UnavailableError(
            f"sound needs PortAudio ({error}): install it, on Debian with `apt install libportaudio2`"
        ) from error


def find_device(library: Any, kind: Kind, wanted: str | None = None) -> dict[str, Any]:
    """What PortAudio says of a device.

    Args:
        library: See `sound_library`.
        kind: What it is to do.
        wanted: Its number, or a part of its name; None is the system's default.

    Raises:
        UnavailableError: There is no default device.
        InvalidInputError: No device, or more than one, is meant by `wanted`.
    """
    if wanted is not None:
        try:
            return dict(library.query_devices(int(wanted) if wanted.isdecimal() else wanted, kind))
        except (library.PortAudioError, ValueError) as error:
            expected = f"the number or name of a sound {kind} device ({error}); see --list-devices"
            raise InvalidInputError(_OPTIONS[kind], wanted, expected) from error
    try:
        return dict(library.query_devices(kind=kind))
    except (library.PortAudioError, ValueError) as error:
        raise UnavailableError(
            f"there is no sound {kind} device ({error}): plug one in, or choose the system's default device"
        ) from error


def list_devices(library: Any) -> list[Device]:
    """All devices, in PortAudio's order."""
    defaults: dict[Kind, int] = dict(zip(("input", "output"), library.default.device, strict=True))
    return [
        Device(
            number, str(device["name"]), device["max_input_channels"], device["max_output_channels"],
            round(device["default_samplerate"]),
            frozenset(kind for kind, default in defaults.items() if default == number),
        )
        for number, device in enumerate(library.query_devices())
    ]  # fmt: skip
