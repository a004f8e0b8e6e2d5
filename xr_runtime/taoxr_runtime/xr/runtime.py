"""The OpenXR runtime and the headset it serves."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from taoxr import __version__
from taoxr.errors import UnavailableError
from taoxr_runtime.render import gl
from taoxr_runtime.xr import api
from taoxr_runtime.xr.environment import OVERLAY, PASSTHROUGH, Surroundings, choose_environment

_OPENGL: Final = "XR_KHR_opengl_enable"
# Not needed, but used where they are.
_LOCAL_FLOOR: Final = "XR_EXT_local_floor"
_CLOCK: Final = "XR_KHR_convert_timespec_time"
REFRESH_RATE: Final = "XR_FB_display_refresh_rate"
HAND_INTERACTION: Final = "XR_EXT_hand_interaction"
DEPTH: Final = "XR_KHR_composition_layer_depth"
_USER_PRESENCE: Final = "XR_EXT_user_presence"
_USEFUL: Final = frozenset({_LOCAL_FLOOR, _CLOCK, REFRESH_RATE, HAND_INTERACTION, _USER_PRESENCE, DEPTH})


@dataclass(frozen=True, slots=True)
class Size:
    """Of one eye's picture in pixels."""

    width: int
    height: int


def extensions() -> set[str]:
    """Names of what the active runtime offers.

    Raises:
        NoRuntimeError: There is none.
        UnavailableError: pyopenxr is not installed.
    """
    found = api.call("enumerate_instance_extension_properties")
    return {item.extension_name.decode() for item in found}


class Runtime:
    """A connection to the active runtime, with its headset; a context manager. One may be open at a time.

    Attributes:
        extensions: Names of those that are enabled.
        name: Of the runtime, with its version.
        headset: Its name.
        sizes: Recommended size of the picture for each eye.
        surroundings: As wanted.
        blend_modes: Names of the ``XrEnvironmentBlendMode`` that it offers, the preferred first.
        environment: How pictures meet the world around.

    Raises:
        NoRuntimeError: No runtime is installed or running.
        NoHeadsetError: No headset is connected.
        UnavailableError: The runtime takes no OpenGL.
        LostError: It went away meanwhile.
    """

    def __init__(self, wanted: tuple[str, ...] = (), surroundings: Surroundings | None = None) -> None:
        """Args: extensions that the graphics binding needs; among what the avatar shall stand."""
        xr = api.xr()
        self.surroundings = surroundings or Surroundings()
        available = extensions()
        if _OPENGL not in available:
            raise UnavailableError(f"the OpenXR runtime takes no OpenGL ({_OPENGL}): use another runtime")
        if self.surroundings.overlay and OVERLAY not in available:
            raise UnavailableError(
                f"this OpenXR runtime shows no app over another (it lacks {OVERLAY}, as SteamVR does): "
                "make Monado or WiVRn the active runtime, or leave out --overlay"
            )
        enabled = [_OPENGL, *wanted, *(_USEFUL & available)]
        if self.surroundings.overlay:
            enabled.append(OVERLAY)
        if self.surroundings.room and PASSTHROUGH in available:
            enabled.append(PASSTHROUGH)
        self.extensions = frozenset(enabled)
        major, minor, patch = (int(part) for part in __version__.split(".")[:3])
        application = xr.ApplicationInfo(
            application_name="taoxr",
            application_version=(major << 20) + (minor << 10) + patch,
            engine_name="taoxr",
            api_version=xr.XR_API_VERSION_1_0,
        )
        self.instance: Any = api.call(
            "create_instance",
            xr.InstanceCreateInfo(application_info=application, enabled_extension_names=enabled),
        )
        self._clock: Any = None
        try:
            if _CLOCK in enabled and sys.platform == "linux":
                self._clock = self._function("xrConvertTimespecTimeToTimeKHR")
            self._ask()
        except BaseException:
            self.close()
            raise

    def _ask(self) -> None:
        xr = api.xr()
        about = api.call("get_instance_properties", self.instance)
        self.name = f"{about.runtime_name.decode()} ({xr.Version(about.runtime_version)})"
        self.system: Any = api.call(
            "get_system", self.instance, xr.SystemGetInfo(form_factor=xr.FormFactor.HEAD_MOUNTED_DISPLAY)
        )
        self.headset = api.call("get_system_properties", self.instance, self.system).system_name.decode()
        self.view_configuration: Any = xr.ViewConfigurationType.PRIMARY_STEREO
        place = (self.instance, self.system, self.view_configuration)
        self.sizes = [
            Size(view.recommended_image_rect_width, view.recommended_image_rect_height)
            for view in api.call("enumerate_view_configuration_views", *place)
        ]
        modes = api.call("enumerate_environment_blend_modes", *place)
        self.blend_modes = [xr.EnvironmentBlendMode(mode).name for mode in modes]
        self.environment = choose_environment(self.blend_modes, self._shows_the_room(), self.surroundings)

    @property
    def opaque(self) -> bool:
        """Whether our picture is all that the user sees."""
        return self.environment.opaque

    def _shows_the_room(self) -> bool:
        """Whether the headset has what ``XR_FB_passthrough`` shows."""
        if PASSTHROUGH not in self.extensions:
            return False
        xr = api.xr()
        room = xr.SystemPassthroughPropertiesFB()
        about = xr.SystemProperties(next=ctypes.cast(ctypes.pointer(room), ctypes.c_void_p))
        code = self._function("xrGetSystemProperties")(self.instance, self.system, ctypes.byref(about))
        return code == 0 and bool(room.supports_passthrough)

    def check_driver(self) -> None:
        """Compare the current context with what the runtime needs; must be done before a session is made.

        Raises:
            UnavailableError: The driver is too old.
        """
        xr = api.xr()
        name = "xrGetOpenGLGraphicsRequirementsKHR"
        needs = xr.GraphicsRequirementsOpenGLKHR()
        code = self._function(name)(self.instance, self.system, ctypes.byref(needs))
        if code < 0:
            raise api.XrError(f"{name}: {xr.Result(code).name}")
        g = gl.gl()
        found = (int(g.glGetIntegerv(g.GL_MAJOR_VERSION)), int(g.glGetIntegerv(g.GL_MINOR_VERSION)))
        least = xr.Version(needs.min_api_version_supported)
        if found < (least.major, least.minor):
            raise UnavailableError(
                f"{self.name} needs OpenGL {least.major}.{least.minor}, the driver gives "
                f"{found[0]}.{found[1]}: update the graphics driver"
            )

    def now(self) -> int | None:
        """The time on the runtime's clock, nanoseconds; None when it does not tell."""
        if self._clock is None:
            return None
        xr = api.xr()
        seconds, nanoseconds = divmod(time.clock_gettime_ns(time.CLOCK_MONOTONIC), 1_000_000_000)
        here, there = xr.timespec(tv_sec=seconds, tv_nsec=nanoseconds), xr.Time()
        code = self._clock(self.instance, ctypes.byref(here), ctypes.byref(there))
        return int(there.value) if code == 0 else None

    def _function(self, name: str) -> Any:
        """A function of an extension; call it with ctypes arguments."""
        pointer = api.call("get_instance_proc_addr", self.instance, name)
        return ctypes.cast(pointer, getattr(api.xr(), f"PFN_{name}"))

    def close(self) -> None:
        """End the connection; harmless when the runtime is gone. Sessions must be closed before."""
        if self.instance is not None:
            destroy("destroy_instance", self.instance)
            self.instance = None

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def destroy(name: str, handle: Any) -> None:
    """Destroy an object, whose runtime may be gone.

    Args:
        name: pyopenxr's function.
        handle: The object.
    """
    with contextlib.suppress(api.LostError, api.NoRuntimeError):  # the object is gone as well then
        api.call(name, handle)
