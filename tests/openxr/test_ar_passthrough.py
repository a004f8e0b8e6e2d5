"""XR_FB_passthrough with a small fake of the extension's functions, for Monado has none.

The fake stands where the runtime's functions are looked up, so everything up to the C call is real: what is
compared is what a runtime would read.
"""

import ctypes
from typing import Any

import pytest

from taoxr.errors import UnavailableError
from taoxr_runtime.xr import api
from taoxr_runtime.xr.passthrough import Passthrough

pytestmark = pytest.mark.unit

PASSTHROUGH, LAYER = 0x51, 0x52
NOT_PERMITTED = -1000118003


class FakeRuntime:
    """Answers as a runtime with the extension would.

    Attributes:
        calls: What was called, with the numbers that it was given.
        refuses: The function that gives an error.
    """

    def __init__(self, refuses: str = "") -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.refuses = refuses
        xr = api.xr()
        creating = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        plain = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        self.functions: dict[str, Any] = {
            "xrCreatePassthroughFB": creating(self.create),
            "xrCreatePassthroughLayerFB": creating(self.create_layer),
        }
        for name in ("xrPassthroughStartFB", "xrDestroyPassthroughLayerFB", "xrDestroyPassthroughFB"):
            self.functions[name] = plain(lambda handle, name=name: self.note(name, handle))
        self.types = xr.StructureType

    def note(self, name: str, *numbers: Any) -> int:
        self.calls.append((name, *numbers))
        return NOT_PERMITTED if name == self.refuses else 0

    def create(self, session: int, info: int, out: int) -> int:
        given = api.xr().PassthroughCreateInfoFB.from_address(info)
        assert given.type == self.types.PASSTHROUGH_CREATE_INFO_FB
        ctypes.c_uint64.from_address(out).value = PASSTHROUGH
        return self.note("xrCreatePassthroughFB", session, int(given.flags))

    def create_layer(self, session: int, info: int, out: int) -> int:
        given = api.xr().PassthroughLayerCreateInfoFB.from_address(info)
        assert given.type == self.types.PASSTHROUGH_LAYER_CREATE_INFO_FB
        ctypes.c_uint64.from_address(out).value = LAYER
        return self.note(
            "xrCreatePassthroughLayerFB",
            session,
            handle(given.passthrough),
            int(given.flags),
            int(given.purpose),
        )

    def address(self, instance: Any, name: str) -> Any:
        """In place of xrGetInstanceProcAddr."""
        return ctypes.cast(self.functions[name], api.xr().PFN_xrVoidFunction)


def handle(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def session() -> Any:
    made = ctypes.cast(0x41, api.xr().Session)
    made.instance = None
    return made


def with_fake(monkeypatch: pytest.MonkeyPatch, refuses: str = "") -> FakeRuntime:
    fake = FakeRuntime(refuses)
    monkeypatch.setattr("xr.functions.get_instance_proc_addr", fake.address)
    return fake


def test_the_room_is_started_shown_first_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    xr = api.xr()
    fake = with_fake(monkeypatch)
    room = Passthrough(session())
    running = int(xr.PassthroughFlagsFB.IS_RUNNING_AT_CREATION_BIT)
    assert fake.calls == [
        ("xrCreatePassthroughFB", 0x41, 0),
        ("xrCreatePassthroughLayerFB", 0x41, PASSTHROUGH, running, 0),
        ("xrPassthroughStartFB", PASSTHROUGH),
    ]
    layer = room.layer()
    assert layer.type == xr.StructureType.COMPOSITION_LAYER_PASSTHROUGH_FB
    assert int(layer.layer_flags) == int(xr.CompositionLayerFlags.BLEND_TEXTURE_SOURCE_ALPHA_BIT)
    assert handle(layer.layer_handle) == LAYER
    assert handle(layer.space) == 0
    del fake.calls[:]
    room.close()
    room.close()
    assert fake.calls == [("xrDestroyPassthroughLayerFB", LAYER), ("xrDestroyPassthroughFB", PASSTHROUGH)]


@pytest.mark.parametrize(
    "refuses", ["xrCreatePassthroughFB", "xrCreatePassthroughLayerFB", "xrPassthroughStartFB"]
)
def test_a_refusal_says_what_to_do_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, refuses: str) -> None:
    fake = with_fake(monkeypatch, refuses)
    with pytest.raises(UnavailableError, match="allow passthrough in the headset's software"):
        Passthrough(session())
    made = sum(call[0].startswith("xrCreate") and call[0] != refuses for call in fake.calls)
    assert sum(call[0].startswith("xrDestroy") for call in fake.calls) == made
