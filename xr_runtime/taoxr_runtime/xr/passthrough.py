"""The room around the user as a layer below ours: XR_FB_passthrough."""

from __future__ import annotations

from typing import Any

from taoxr.errors import UnavailableError
from taoxr_runtime.xr import api
from taoxr_runtime.xr.runtime import destroy


class Passthrough:
    """Shows the room from now on, in every frame that begins with its ``layer``.

    Args:
        session: pyopenxr's handle; the instance has the extension enabled.

    Raises:
        UnavailableError: The runtime does not let us; says what to do.
    """

    def __init__(self, session: Any) -> None:
        xr = api.xr()
        self._passthrough: Any = None
        self._layer: Any = None
        try:
            self._passthrough = api.call(
                "create_passthrough_fb", session, xr.PassthroughCreateInfoFB(flags=xr.PassthroughFlagsFB.NONE)
            )
            info = xr.PassthroughLayerCreateInfoFB(
                passthrough=self._passthrough,
                flags=xr.PassthroughFlagsFB.IS_RUNNING_AT_CREATION_BIT,
                purpose=xr.PassthroughLayerPurposeFB.RECONSTRUCTION,
            )
            self._layer = api.call("create_passthrough_layer_fb", session, info)
            api.call("passthrough_start_fb", self._passthrough)
        except api.XrError as error:
            self.close()
            raise UnavailableError(
                f"the runtime does not show the room ({error}): allow passthrough in the headset's software "
                "(Meta Quest Link: Settings, Beta, developer features), or use `taoxr xr`"
            ) from error

    def layer(self) -> Any:
        """``XrCompositionLayerPassthroughFB``, to be the first of a frame's layers."""
        xr = api.xr()
        layer = xr.CompositionLayerPassthroughFB(layer_handle=self._layer)
        # pyopenxr loses the flags that its constructor is given.
        layer.layer_flags = xr.CompositionLayerFlags.BLEND_TEXTURE_SOURCE_ALPHA_BIT
        return layer

    def close(self) -> None:
        """Show no room any more; harmless when the runtime is gone."""
        if self._layer is not None:
            destroy("destroy_passthrough_layer_fb", self._layer)
            self._layer = None
        if self._passthrough is not None:
            destroy("destroy_passthrough_fb", self._passthrough)
            self._passthrough = None
