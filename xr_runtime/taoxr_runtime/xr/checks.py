"""Check of the OpenXR runtime and the headset for ``taoxr doctor``."""

from collections.abc import Iterator
from typing import Any, Final

from taoxr.doctor import Entry, fail, ok, parts, warn
from taoxr.errors import UnavailableError
from taoxr_runtime.xr import api
from taoxr_runtime.xr.runtime import HAND_INTERACTION, REFRESH_RATE

_OPENGL: Final = "XR_KHR_opengl_enable"
# What taoxr uses where it is there.
_NOTABLE: Final = ("XR_MNDX_egl_enable", "XR_EXT_local_floor", HAND_INTERACTION, REFRESH_RATE)
_RUNTIME: Final = "OpenXR runtime"


def checks() -> Iterator[Entry]:
    """There is a runtime that takes OpenGL, and it sees a headset."""
    try:
        xr = api.xr()
    except UnavailableError as error:
        yield warn(_RUNTIME, *parts(error))
        return
    try:
        properties: list[Any] = api.call("enumerate_instance_extension_properties")
        extensions = {p.extension_name.decode() for p in properties}
        enabled = [_OPENGL] if _OPENGL in extensions else []
        info = xr.InstanceCreateInfo(
            application_info=xr.ApplicationInfo(application_name="taoxr doctor"),
            enabled_extension_names=enabled,
        )
        instance = api.call("create_instance", info)
    except (UnavailableError, api.XrError) as error:
        yield warn(_RUNTIME, *parts(error))
        return
    try:
        yield _runtime(instance, extensions)
        yield _headset(xr, instance)
    finally:
        api.call("destroy_instance", instance)


def _runtime(instance: Any, extensions: set[str]) -> Entry:
    about = api.call("get_instance_properties", instance)
    notable = ", ".join(name for name in _NOTABLE if name in extensions)
    found = f"{about.runtime_name.decode()} {about.runtime_version}, {len(extensions)} extensions"
    if _OPENGL not in extensions:
        return fail(
            _RUNTIME, f"{found}, without {_OPENGL}", "make another runtime active: this takes no OpenGL"
        )
    return ok(_RUNTIME, f"{found}{', ' if notable else ''}{notable}")


def _headset(xr: Any, instance: Any) -> Entry:
    try:
        wanted = xr.SystemGetInfo(form_factor=xr.FormFactor.HEAD_MOUNTED_DISPLAY)
        system = api.call("get_system", instance, wanted)
        about = api.call("get_system_properties", instance, system)
        kind = xr.ViewConfigurationType.PRIMARY_STEREO
        views: list[Any] = api.call("enumerate_view_configuration_views", instance, system, kind)
    except (UnavailableError, api.XrError) as error:
        return warn("headset", *parts(error))
    size = ", ".join(f"{v.recommended_image_rect_width}x{v.recommended_image_rect_height}" for v in views[:1])
    return ok("headset", f"{about.system_name.decode()}, {size} per eye")
