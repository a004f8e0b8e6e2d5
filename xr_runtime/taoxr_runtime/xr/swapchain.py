"""Swapchains: the pictures that we draw and the runtime shows."""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.render import TextureTarget, gl
from taoxr_runtime.xr import api
from taoxr_runtime.xr.runtime import Size, destroy
from taoxr_runtime.xr.session import Session

FormatName = Literal["auto", "srgb8", "rgba8", "rgba16f"]

_FORMATS: Final = {"srgb8": "GL_SRGB8_ALPHA8", "rgba16f": "GL_RGBA16F", "rgba8": "GL_RGBA8"}
"""Best first: RGBA8 has too few steps for dark light."""
_DEPTH_FORMATS: Final = {
    "depth32f": "GL_DEPTH_COMPONENT32F",
    "depth24": "GL_DEPTH_COMPONENT24",
    "depth32f_stencil8": "GL_DEPTH32F_STENCIL8",
    "depth24_stencil8": "GL_DEPTH24_STENCIL8",
}
"""Best first; those of 16 bits have steps of a few centimetres where the avatar stands."""


def choose_format(name: FormatName, offered: Sequence[int]) -> str:
    """A format that the runtime offers.

    Args:
        name: "auto" takes the best.
        offered: OpenGL's numbers.

    Returns:
        "srgb8", "rgba16f" or "rgba8".

    Raises:
        UnavailableError: The runtime lacks it.
    """
    g = gl.gl()
    known = [key for key, constant in _FORMATS.items() if int(getattr(g, constant)) in offered]
    if not known:
        raise UnavailableError(f"the OpenXR runtime offers none of the formats {', '.join(_FORMATS)}")
    if name == "auto":
        return known[0]
    if name not in known:
        raise UnavailableError(f"the OpenXR runtime lacks the format {name}: use --format {known[0]}")
    return name


def choose_depth_format(offered: Sequence[int]) -> str | None:
    """A format for depth that the runtime offers, by OpenGL's numbers; None if there is none."""
    g = gl.gl()
    return next((key for key, name in _DEPTH_FORMATS.items() if int(getattr(g, name)) in offered), None)


class Swapchain:
    """One chain of images.

    Args:
        session: Its owner.
        format: As ``choose_format`` or ``choose_depth_format`` gives it.
        size: Pixels.
        layers: Of each image.
    """

    def __init__(self, session: Session, format: str, size: Size, layers: int = 1) -> None:
        xr = api.xr()
        self.size, self.layers = size, layers
        self._brightness_floor = session.environment.brightness_floor
        flags = xr.SwapchainUsageFlags
        depth = format in _DEPTH_FORMATS
        use = flags.DEPTH_STENCIL_ATTACHMENT_BIT if depth else flags.COLOR_ATTACHMENT_BIT
        info = xr.SwapchainCreateInfo(
            usage_flags=use | flags.SAMPLED_BIT,
            format=int(getattr(gl.gl(), (_DEPTH_FORMATS if depth else _FORMATS)[format])),
            sample_count=1,
            width=size.width,
            height=size.height,
            face_count=1,
            array_size=layers,
            mip_count=1,
        )
        self._handle: Any = api.call("create_swapchain", session.handle, info)
        images = api.call("enumerate_swapchain_images", self._handle, xr.SwapchainImageOpenGLKHR)
        self._textures: list[int] = [int(image.image) for image in images]

    @contextmanager
    def image(self) -> Generator[TextureTarget]:
        """The picture to draw on (its first layer, if it has some), ours within the block."""
        xr = api.xr()
        number: int = api.call("acquire_swapchain_image", self._handle, xr.SwapchainImageAcquireInfo())
        waiting = xr.SwapchainImageWaitInfo(timeout=xr.INFINITE_DURATION)
        api.call("wait_swapchain_image", self._handle, waiting)
        try:
            # Runtimes take the numbers in RGBA8 and RGBA16F for light; SRGB8_ALPHA8 is encoded on the way in.
            layer = 0 if self.layers > 1 else None
            width, height = self.size.width, self.size.height
            texture = self._textures[number]
            yield TextureTarget(texture, width, height, layer, "linear", self._brightness_floor)
        finally:
            api.call("release_swapchain_image", self._handle, xr.SwapchainImageReleaseInfo())

    def part(self, layer: int = 0, size: Size | None = None) -> Any:
        """``XrSwapchainSubImage`` of a layer of the image released last.

        Args:
            layer: Which.
            size: Of the part at the lower left that was drawn on; None: all of it.
        """
        xr = api.xr()
        size = size or self.size
        drawn = xr.Rect2Di(xr.Offset2Di(0, 0), xr.Extent2Di(size.width, size.height))
        return xr.SwapchainSubImage(swapchain=self._handle, image_rect=drawn, image_array_index=layer)

    def close(self) -> None:
        """Give the images back; harmless when the runtime is gone."""
        if self._handle is not None:
            destroy("destroy_swapchain", self._handle)
            self._handle = None


class EyeImages:
    """What both eyes are drawn on: a swapchain for each, or one with a layer for each.

    Args:
        session: Their owner.
        format: As ``choose_format`` or ``choose_depth_format`` gives it.
        sizes: Of the picture for each eye.
        layers: 2 for one swapchain with layers, which is half the calls; 1 for two swapchains; None for what
            can be: one where the eyes have one size and the runtime makes such, else two.

    Attributes:
        layers: As chosen.

    Raises:
        InvalidInputError: Layers are wanted for eyes of different sizes.
        XrError: The runtime refuses.
    """

    def __init__(self, session: Session, format: str, sizes: Sequence[Size], layers: int | None) -> None:
        alike = len(set(sizes)) == 1
        if layers is not None and layers != 1 and not alike:
            raise InvalidInputError("layers", layers, f"1, for the headset's eyes differ in size: {sizes}")
        self._chains: list[Swapchain] = []
        if layers is None and alike:
            try:
                self._make(session, format, sizes, len(sizes))
                return
            except (api.XrError, api.NoRuntimeError):
                layers = 1  # if that was not why it refused, it will again
        self._make(session, format, sizes, layers or 1)

    def _make(self, session: Session, format: str, sizes: Sequence[Size], layers: int) -> None:
        self.layers = layers
        try:
            for size in sizes[: 1 if self.layers > 1 else None]:
                self._chains.append(Swapchain(session, format, size, self.layers))
        except BaseException:
            self.close()
            raise

    @contextmanager
    def targets(self, sizes: Sequence[Size]) -> Generator[list[TextureTarget]]:
        """What to draw on for each eye, ours within the block.

        Args:
            sizes: For each eye what to draw, at the lower left, of the picture; not more than all of it.
        """
        if self.layers > 1:
            (chain,) = self._chains
            with chain.image() as first:
                layers = range(chain.layers)
                yield [_lower_left(replace(first, layer=layer), sizes[layer]) for layer in layers]
            return
        left, right = self._chains
        with left.image() as first, right.image() as second:
            yield [_lower_left(first, sizes[0]), _lower_left(second, sizes[1])]

    def parts(self, sizes: Sequence[Size]) -> list[Any]:
        """``XrSwapchainSubImage`` for each eye, of what was drawn with these sizes."""
        if self.layers > 1:
            return [self._chains[0].part(layer, size) for layer, size in enumerate(sizes)]
        return [chain.part(size=size) for chain, size in zip(self._chains, sizes, strict=True)]

    def close(self) -> None:
        """Give the images back."""
        for chain in self._chains:
            chain.close()
        self._chains.clear()


def _lower_left(target: TextureTarget, size: Size) -> TextureTarget:
    return replace(target, width=size.width, height=size.height)


def read_srgb(target: TextureTarget, format: str) -> NDArray[np.uint8]:
    """Wait for the drawing to end and copy a picture, for screenshots and tests.

    Args:
        target: What was drawn on.
        format: Of its swapchain.

    Returns:
        uint8 [H, W, 3], sRGB-encoded, row 0 at the top.
    """
    g = gl.gl()
    encoded = format == "srgb8"
    shape = (target.height, target.width, 4)
    numbers: NDArray[np.uint8] | NDArray[np.float32] = (
        np.empty(shape, np.uint8) if encoded else np.empty(shape, np.float32)
    )
    g.glGetTextureSubImage(
        target.texture, 0, 0, 0, target.layer or 0, target.width, target.height, 1, g.GL_RGBA,
        g.GL_UNSIGNED_BYTE if encoded else g.GL_FLOAT, numbers.nbytes, ctypes.c_void_p(numbers.ctypes.data),
    )  # fmt: skip
    picture = numbers[::-1, :, :3]
    return picture.astype(np.uint8) if encoded else encode_srgb(picture.astype(np.float32))


def encode_srgb(light: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Linear light, 0 to 1, as sRGB bytes (IEC 61966-2-1)."""
    light = np.clip(light, 0, 1)
    encoded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.rint(encoded * 255).astype(np.uint8)
