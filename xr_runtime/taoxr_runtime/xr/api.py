"""The only door to pyopenxr: imports it rightly, names its errors, knows which call is under way.

pyopenxr (1.1.6501) has no types, raises for the harmless results of OpenXR too, and on Linux sets PyOpenGL to
GLX for the whole process when imported; all three end here.
"""

from __future__ import annotations

import importlib
import os
import time
from typing import Any, Final, NamedTuple

from taoxr.errors import TaoxrError, UnavailableError
from taoxr_runtime.render import gl

SIMULATED_HINT: Final = (
    "without a headset, use Monado's simulated one: apt-get install monado-service libopenxr1-monado "
    "(Debian 13, Ubuntu 24.04; on Debian 12 see docs/xr.md), then run SIMULATED_ENABLE=1 monado-service"
)
"""How to get a headset that is not there."""


class XrError(TaoxrError):
    """The runtime refused a call: a fault of ours or of the runtime's."""


class NoRuntimeError(UnavailableError):
    """No OpenXR runtime is installed, or the one installed is not running."""


class NoHeadsetError(UnavailableError):
    """The runtime has no headset at hand."""


class LostError(UnavailableError):
    """The runtime went away, or took the session back; everything made from it is void."""


class Call(NamedTuple):
    """A call into the runtime that has not returned.

    Attributes:
        name: As in the specification, such as "xrWaitFrame".
        since: ``time.monotonic()`` at its start.
    """

    name: str
    since: float


_xr: Any = None
_current: Call | None = None


def xr() -> Any:
    """The module pyopenxr, for its structures and constants; functions are called through ``call``.

    Raises:
        UnavailableError: pyopenxr or OpenGL cannot be loaded; says what to install.
    """
    global _xr
    if _xr is None:
        # The loader would print its complaints about missing runtimes itself.
        os.environ.setdefault("XR_LOADER_DEBUG", "none")
        # pyopenxr replaces PyOpenGL's platform by GLX's; EGL then fails with EGL_BAD_DISPLAY. So: load, keep,
        # put back.
        gl.gl()
        platform = gl.load("OpenGL.platform")
        ours = platform.PLATFORM
        try:
            _xr = importlib.import_module("xr")
        except ModuleNotFoundError as error:
            raise UnavailableError("pyopenxr is not installed: pip install 'taoxr[xr]'") from error
        except (ImportError, OSError, AttributeError) as error:
            raise UnavailableError(f"pyopenxr cannot be loaded ({error}): apt-get install libgl1") from error
        except NotImplementedError as error:
            raise UnavailableError("OpenXR is available on Linux and Windows only") from error
        finally:
            platform.PLATFORM = ours
    return _xr


def call(name: str, *arguments: Any) -> Any:
    """Call an OpenXR function.

    Args:
        name: pyopenxr's name of it, such as "wait_frame".
        arguments: As pyopenxr takes them.

    Returns:
        What pyopenxr returns; None when OpenXR says that it succeeded without a result (no event, no focus,
        frame discarded).

    Raises:
        LostError: The runtime is gone or takes the session back.
        NoRuntimeError: No runtime is installed or running (``create_instance`` and enumerations).
        NoHeadsetError: No headset is connected (``get_system``).
        XrError: The runtime refused.
    """
    global _current
    module = xr()
    function = getattr(module, name)
    _current = Call(spec_name(name), time.monotonic())
    try:
        return function(*arguments)
    except (module.InstanceLostError, module.SessionLostError, module.SessionLossPending) as error:
        raise LostError(f"the OpenXR runtime went away (in {spec_name(name)})") from error
    except module.RuntimeUnavailableError as error:
        raise NoRuntimeError(
            "no OpenXR runtime is installed or active: start SteamVR, Monado or your headset's software and "
            f"make it the active runtime, or set XR_RUNTIME_JSON to its JSON file; {SIMULATED_HINT}"
        ) from error
    except module.RuntimeFailureError as error:
        raise NoRuntimeError(
            f"the OpenXR runtime does not work (in {spec_name(name)}): start its service, such as SteamVR or "
            f"monado-service; {SIMULATED_HINT}"
        ) from error
    except module.FormFactorUnavailableError as error:
        raise NoHeadsetError(
            f"the OpenXR runtime sees no headset: connect it and switch it on; {SIMULATED_HINT}"
        ) from error
    except module.FormFactorUnsupportedError as error:
        raise NoHeadsetError(f"this OpenXR runtime serves no headsets; {SIMULATED_HINT}") from error
    except module.exception.QualifiedSuccessResult:
        return None
    except module.exception.ErrorResult as error:
        raise XrError(f"{spec_name(name)}: {type(error).__name__.removesuffix('Error')}: {error}") from error
    finally:
        _current = None


def current_call() -> Call | None:
    """The call into the runtime under way, for the watchdog; may be asked from any thread."""
    return _current


def spec_name(name: str) -> str:
    """The specification's name of a function: "wait_frame" is "xrWaitFrame"."""
    return "xr" + "".join(part.title() for part in name.split("_"))
