"""What the hands do, as OpenXR's actions tell it, and the pulses that they feel."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final

from taoxr_runtime.xr import api
from taoxr_runtime.xr.bindings import HANDS, PROFILES, Profile
from taoxr_runtime.xr.controls import Hand, Hands
from taoxr_runtime.xr.poses import Pose
from taoxr_runtime.xr.runtime import Runtime, destroy
from taoxr_runtime.xr.session import Frame, Session, pose, structure

# Kind, and name for people.
_ACTIONS: Final = {
    "talk": ("FLOAT_INPUT", "Talk"),
    "grab": ("FLOAT_INPUT", "Take hold of the avatar"),
    "menu": ("BOOLEAN_INPUT", "Captions (hold: bring the avatar here)"),
    "mute": ("BOOLEAN_INPUT", "Microphone on or off"),
    "grip": ("POSE_INPUT", "Hand"),
    "pulse": ("VIBRATION_OUTPUT", "Pulse"),
}
_PULSE_NS: Final = 30_000_000
_PULSE_AMPLITUDE: Final = 0.5


class Inputs:
    """The controllers' actions; made after the session and before its first frame.

    Raises:
        LostError: The runtime went away.
        XrError: The runtime refused.
    """

    def __init__(self, runtime: Runtime, session: Session) -> None:
        self._instance, self._session = runtime.instance, session
        self._hands: list[Any] = [self._path(f"/user/hand/{hand}") for hand in HANDS]
        with ExitStack() as made:
            self._open(made)
            for profile in PROFILES:
                if not profile.extension or profile.extension in runtime.extensions:
                    self._suggest(profile)
            xr = api.xr()
            attached = xr.SessionActionSetsAttachInfo(action_sets=[self._set])
            api.call("attach_session_action_sets", session.handle, attached)
            self._made = made.pop_all()

    def _open(self, made: ExitStack) -> None:
        xr = api.xr()
        self._set: Any = api.call(
            "create_action_set",
            self._instance,
            xr.ActionSetCreateInfo(action_set_name="avatar", localized_action_set_name="The avatar"),
        )
        made.callback(destroy, "destroy_action_set", self._set)
        self._actions: dict[str, Any] = {}
        for name, (kind, meaning) in _ACTIONS.items():
            info = xr.ActionCreateInfo(
                action_name=name,
                action_type=getattr(xr.ActionType, kind),
                subaction_paths=self._hands,
                localized_action_name=meaning,
            )
            self._actions[name] = api.call("create_action", self._set, info)
        self._grips: list[Any] = []
        for hand in self._hands:
            info = xr.ActionSpaceCreateInfo(
                action=self._actions["grip"],
                subaction_path=hand,
                pose_in_action_space=structure(Pose((0, 0, 0, 1), (0, 0, 0))),
            )
            self._grips.append(api.call("create_action_space", self._session.handle, info))
            made.callback(destroy, "destroy_space", self._grips[-1])

    def _suggest(self, profile: Profile) -> None:
        xr = api.xr()
        bindings = [
            xr.ActionSuggestedBinding(action=self._actions[action], binding=self._path(path))
            for action, _, path in profile.bindings()
        ]
        suggested = xr.InteractionProfileSuggestedBinding(
            interaction_profile=self._path(f"/interaction_profiles/{profile.name}"),
            suggested_bindings=bindings,
        )
        api.call("suggest_interaction_profile_bindings", self._instance, suggested)

    def read(self, frame: Frame) -> Hands | None:
        """What the hands do; None while the session has not got the focus.

        Args:
            frame: Poses are those of the time at which it is seen.
        """
        xr = api.xr()
        if self._session.state != "FOCUSED":
            return None
        active = [xr.ActiveActionSet(action_set=self._set, subaction_path=xr.NULL_PATH)]
        api.call("sync_actions", self._session.handle, xr.ActionsSyncInfo(active_action_sets=active))
        return self._hand(0, frame), self._hand(1, frame)

    def pulse(self, side: int) -> None:
        """Let a hand feel a short pulse, where it holds something that can.

        Args:
            side: 0 for the left hand, 1 for the right.
        """
        xr = api.xr()
        info = xr.HapticActionInfo(action=self._actions["pulse"], subaction_path=self._hands[side])
        vibration = xr.HapticVibration(
            duration=_PULSE_NS, frequency=xr.FREQUENCY_UNSPECIFIED, amplitude=_PULSE_AMPLITUDE
        )
        api.call("apply_haptic_feedback", self._session.handle, info, vibration)

    def close(self) -> None:
        """Destroy the actions; harmless when the runtime is gone."""
        self._made.close()

    def _hand(self, side: int, frame: Frame) -> Hand:
        return Hand(
            talk=float(self._state("float", "talk", side, 0.0)),
            grab=float(self._state("float", "grab", side, 0.0)),
            menu=bool(self._state("boolean", "menu", side, False)),
            mute=bool(self._state("boolean", "mute", side, False)),
            grip=self._grip(side, frame),
        )

    def _state(self, kind: str, action: str, side: int, absent: float | bool) -> float | bool:
        state = self._get(kind, action, side)
        return state.current_state if state.is_active else absent

    def _grip(self, side: int, frame: Frame) -> Pose | None:
        if not self._get("pose", "grip", side).is_active:
            return None
        xr = api.xr()
        place = (self._grips[side], self._session.base, frame.display_time)
        location = api.call("locate_space", *place)
        flags = xr.SpaceLocationFlags
        needed = int(flags.ORIENTATION_VALID_BIT) | int(flags.POSITION_VALID_BIT)
        return pose(location.pose) if int(location.location_flags) & needed == needed else None

    def _get(self, kind: str, action: str, side: int) -> Any:
        xr = api.xr()
        info = xr.ActionStateGetInfo(action=self._actions[action], subaction_path=self._hands[side])
        return api.call(f"get_action_state_{kind}", self._session.handle, info)

    def _path(self, text: str) -> Any:
        return api.call("string_to_path", self._instance, text)
