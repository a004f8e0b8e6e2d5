"""A session with the headset: its states, its space, and the rhythm of frames."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final

from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.xr import api
from taoxr_runtime.xr.binding import Binding
from taoxr_runtime.xr.passthrough import Passthrough
from taoxr_runtime.xr.poses import GUESSED_EYE_HEIGHT_M, Eye, Pose
from taoxr_runtime.xr.runtime import Runtime, destroy

_SPACES: Final = ("STAGE", "LOCAL_FLOOR_EXT", "LOCAL")
# Of an overlay among overlays; a higher number lies above.
_PLACEMENT: Final = 1


@dataclass(slots=True)
class Frame:
    """One picture for the headset, between ``xrBeginFrame`` and ``xrEndFrame``.

    Attributes:
        display_time: When it will be seen, nanoseconds on the runtime's clock.
        period: Between two pictures, nanoseconds.
        seen_us: The same on this machine's steady clock, microseconds; see ``audio.protocols.clock_us``.
        visible: Whether anybody will see it; else nothing need be drawn.
        layers: ``XrCompositionLayer...`` structures, farthest first.
    """

    display_time: int
    period: int
    seen_us: int
    visible: bool
    layers: list[Any] = field(default_factory=list[Any])

    @property
    def ahead_us(self) -> int:
        """From now until it will be seen, microseconds; 0 when it is late."""
        return max(self.seen_us - clock_us(), 0)


class Session:
    """A session; a context manager.

    ``poll`` follows the runtime's wishes; while ``running``, make frames with ``begin`` and ``end``.

    Attributes:
        state: Name of the latest ``XrSessionState``, such as "FOCUSED".
        running: Whether frames are wanted.
        over: Whether the session has ended; True for good.
        worn: Whether somebody wears the headset, as far as the runtime tells (``XR_EXT_user_presence``): some
            keep a session visible when it is taken off.
        space: "STAGE", "LOCAL_FLOOR" or "LOCAL".
        floor_y: Height of the floor in the space, metres; guessed for LOCAL.
        recentred: How often the user has moved a space's origin, up to the frame begun last.

    Raises:
        LostError: The runtime went away.
        UnavailableError: The driver is too old for the runtime.
        XrError: The runtime refused.
    """

    def __init__(self, runtime: Runtime, binding: Binding) -> None:
        xr = api.xr()
        self._runtime = runtime
        self.environment = runtime.environment
        self.state, self.running, self.over, self.recentred = "UNKNOWN", False, False, 0
        self.worn = True
        self._recentring: int | None = None  # from which display time the origin is another
        runtime.check_driver()
        # pyopenxr keeps no reference to what follows `next`.
        self._graphics = binding.structure()
        self._overlay = xr.SessionCreateInfoOverlayEXTX(session_layers_placement=_PLACEMENT)
        if runtime.surroundings.overlay:
            self._graphics.next = ctypes.cast(ctypes.pointer(self._overlay), ctypes.c_void_p)
        self.handle: Any = api.call(
            "create_session",
            runtime.instance,
            xr.SessionCreateInfo(
                system_id=runtime.system, next=ctypes.cast(ctypes.pointer(self._graphics), ctypes.c_void_p)
            ),
        )
        self.base: Any = None
        self._passthrough: Passthrough | None = None
        try:
            self.space, self.base = self._open_space()
            if self.environment.passthrough:
                self._passthrough = Passthrough(self.handle)
        except BaseException:
            self.close()
            raise
        self.floor_y = -GUESSED_EYE_HEIGHT_M if self.space == "LOCAL" else 0.0

    def formats(self) -> list[int]:
        """OpenGL's numbers of the swapchain formats, in the runtime's order of preference."""
        return [int(number) for number in api.call("enumerate_swapchain_formats", self.handle)]

    def poll(self) -> None:
        """Take in what the runtime has to say.

        Raises:
            LostError: It takes session or instance back, or is gone.
        """
        xr = api.xr()
        kinds = xr.StructureType
        while (event := api.call("poll_event", self._runtime.instance)) is not None:
            kind = event.type
            if kind == kinds.EVENT_DATA_SESSION_STATE_CHANGED:
                change = xr.EventDataSessionStateChanged.from_buffer(event)
                self._enter(xr.SessionState(change.state).name)
            elif kind == kinds.EVENT_DATA_REFERENCE_SPACE_CHANGE_PENDING:
                change = xr.EventDataReferenceSpaceChangePending.from_buffer(event)
                self._recentring = max(int(change.change_time), self._recentring or 0)
            elif kind == kinds.EVENT_DATA_USER_PRESENCE_CHANGED_EXT:
                presence = xr.EventDataUserPresenceChangedEXT.from_buffer(event)
                self.worn = bool(presence.is_user_present)
            elif kind == kinds.EVENT_DATA_MAIN_SESSION_VISIBILITY_CHANGED_EXTX:
                shown = xr.EventDataMainSessionVisibilityChangedEXTX.from_buffer(event)
                if (told := self._runtime.surroundings.on_main_app) is not None:
                    told(bool(shown.visible))
            elif kind == kinds.EVENT_DATA_INSTANCE_LOSS_PENDING:
                raise api.LostError("the OpenXR runtime is going away")

    def _enter(self, state: str) -> None:
        xr = api.xr()
        self.state = state
        if state == "READY":
            begin = xr.SessionBeginInfo(primary_view_configuration_type=self._runtime.view_configuration)
            api.call("begin_session", self.handle, begin)
            self.running = True
        elif state == "STOPPING":
            api.call("end_session", self.handle)
            self.running = False
        elif state == "EXITING":
            self.over = True
        elif state == "LOSS_PENDING":
            raise api.LostError("the OpenXR runtime takes the session back")

    def request_exit(self) -> None:
        """Ask the runtime to end the session; go on with frames until ``over``."""
        if self.running:
            api.call("request_exit_session", self.handle)
        else:
            self.over = True

    def begin(self) -> Frame:
        """Wait until the next frame is due and begin it."""
        state = api.call("wait_frame", self.handle)
        api.call("begin_frame", self.handle)
        display, period = int(state.predicted_display_time), int(state.predicted_display_period)
        if self._recentring is not None and display >= self._recentring:
            self._recentring, self.recentred = None, self.recentred + 1
        now = self._runtime.now()
        # When its clock is unknown: runtimes wake us a picture ahead, and show another until then.
        ahead = 2 * period if now is None else display - now
        return Frame(display, period, clock_us() + ahead // 1000, bool(state.should_render))

    def end(self, frame: Frame) -> None:
        """Hand a frame over; every frame begun must be."""
        xr = api.xr()
        room = [] if self._passthrough is None else [self._passthrough.layer()]
        info = xr.FrameEndInfo(
            display_time=frame.display_time,
            environment_blend_mode=xr.EnvironmentBlendMode[self.environment.blend_mode],
            layers=[ctypes.byref(layer) for layer in (*room, *frame.layers)],
        )
        api.call("end_frame", self.handle, info)

    def eyes(self, frame: Frame) -> list[Eye]:
        """Where the eyes will be when the frame is seen; empty while tracking is lost."""
        xr = api.xr()
        info = xr.ViewLocateInfo(
            view_configuration_type=self._runtime.view_configuration,
            display_time=frame.display_time,
            space=self.base,
        )
        state, views = api.call("locate_views", self.handle, info)
        flags = xr.ViewStateFlags
        needed = int(flags.ORIENTATION_VALID_BIT) | int(flags.POSITION_VALID_BIT)
        if int(state.view_state_flags) & needed != needed:
            return []
        return [Eye(pose(view.pose), _angles(view.fov)) for view in views]

    def projection_layer(self, eyes: Sequence[Eye], images: Sequence[Any], depths: Sequence[Any] = ()) -> Any:
        """The layer of the eyes' pictures.

        Args:
            eyes: As drawn.
            images: ``XrSwapchainSubImage`` of each.
            depths: ``XrCompositionLayerDepthInfoKHR`` of each, which must live until ``end``; or none.
        """
        xr = api.xr()
        views = [
            xr.CompositionLayerProjectionView(
                pose=structure(eye.pose), fov=xr.Fovf(*eye.angles), sub_image=image
            )
            for eye, image in zip(eyes, images, strict=True)
        ]
        for view, depth in zip(views, depths, strict=bool(depths)):
            view.next = ctypes.cast(ctypes.pointer(depth), ctypes.c_void_p)
        # Premultiplied; alpha counts where something is behind, be it only another app.
        flags = xr.CompositionLayerFlags.BLEND_TEXTURE_SOURCE_ALPHA_BIT
        return xr.CompositionLayerProjection(
            layer_flags=xr.CompositionLayerFlags.NONE if self.environment.opaque else flags,
            space=self.base,
            views=views,
        )

    def quad_layer(self, pose: Pose, size_m: tuple[float, float], image: Any) -> Any:
        """A flat picture in space, its colours multiplied by alpha.

        Args:
            pose: Of its middle in the session's space; it is seen from its +Z side.
            size_m: Width and height in metres.
            image: ``XrSwapchainSubImage``.
        """
        xr = api.xr()
        return xr.CompositionLayerQuad(
            layer_flags=xr.CompositionLayerFlags.BLEND_TEXTURE_SOURCE_ALPHA_BIT,
            space=self.base,
            eye_visibility=xr.EyeVisibility.BOTH,
            sub_image=image,
            pose=structure(pose),
            size=xr.Extent2Df(*size_m),
        )

    def close(self) -> None:
        """Destroy session and space; swapchains must be closed before. Harmless when the runtime is gone."""
        if self._passthrough is not None:
            self._passthrough.close()
            self._passthrough = None
        if self.base is not None:
            destroy("destroy_space", self.base)
            self.base = None
        if self.handle is not None:
            destroy("destroy_session", self.handle)
            self.handle = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_space(self) -> tuple[str, Any]:
        """The best space there is: one that knows the floor, before one whose floor must be guessed."""
        xr = api.xr()
        offered = {int(kind) for kind in api.call("enumerate_reference_spaces", self.handle)}
        for name in _SPACES:
            kind = getattr(xr.ReferenceSpaceType, name)
            if int(kind.value) in offered:
                info = xr.ReferenceSpaceCreateInfo(
                    reference_space_type=kind,
                    pose_in_reference_space=structure(Pose((0, 0, 0, 1), (0, 0, 0))),
                )
                return name.removesuffix("_EXT"), api.call("create_reference_space", self.handle, info)
        raise api.XrError(f"the runtime offers none of the spaces {', '.join(_SPACES)}")


def structure(pose: Pose) -> Any:
    """An ``XrPosef``."""
    xr = api.xr()
    return xr.Posef(orientation=xr.Quaternionf(*pose.orientation), position=xr.Vector3f(*pose.position))


def pose(found: Any) -> Pose:
    """What an ``XrPosef`` says."""
    q, p = found.orientation, found.position
    return Pose((float(q.x), float(q.y), float(q.z), float(q.w)), (float(p.x), float(p.y), float(p.z)))


def _angles(fov: Any) -> tuple[float, float, float, float]:
    return float(fov.angle_left), float(fov.angle_right), float(fov.angle_up), float(fov.angle_down)
