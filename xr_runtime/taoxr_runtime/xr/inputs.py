"""What the user does with the controllers: the trigger is the key to talk."""

from __future__ import annotations

from typing import Any, Final

from taoxr_runtime.xr import api
from taoxr_runtime.xr.runtime import Runtime, destroy
from taoxr_runtime.xr.session import Session

_HANDS: Final = ("/user/hand/left", "/user/hand/right")
# Where each controller has its trigger; a runtime maps others to one of these.
_TRIGGERS: Final = {
    "khr/simple_controller": "select/click",
    "valve/index_controller": "trigger/click",
    "oculus/touch_controller": "trigger/value",
    "htc/vive_controller": "trigger/click",
    "microsoft/motion_controller": "trigger/value",
}


class Inputs:
    """The controllers' actions; made after the session and before its first frame."""

    def __init__(self, runtime: Runtime, session: Session) -> None:
        xr = api.xr()
        self._session = session
        instance = runtime.instance
        self._set: Any = api.call(
            "create_action_set",
            instance,
            xr.ActionSetCreateInfo(action_set_name="talking", localized_action_set_name="Talking"),
        )
        self._talk: Any = api.call(
            "create_action",
            self._set,
            xr.ActionCreateInfo(
                action_type=xr.ActionType.BOOLEAN_INPUT, action_name="talk", localized_action_name="Talk"
            ),
        )
        for profile, trigger in _TRIGGERS.items():
            bindings = [
                xr.ActionSuggestedBinding(
                    action=self._talk, binding=api.call("string_to_path", instance, f"{hand}/input/{trigger}")
                )
                for hand in _HANDS
            ]
            path = api.call("string_to_path", instance, f"/interaction_profiles/{profile}")
            api.call(
                "suggest_interaction_profile_bindings",
                instance,
                xr.InteractionProfileSuggestedBinding(interaction_profile=path, suggested_bindings=bindings),
            )
        attached = xr.SessionActionSetsAttachInfo(action_sets=[self._set])
        api.call("attach_session_action_sets", session.handle, attached)

    def talk(self) -> bool:
        """Whether the user holds a trigger; False while the session has no focus."""
        xr = api.xr()
        active = [xr.ActiveActionSet(action_set=self._set, subaction_path=xr.NULL_PATH)]
        api.call("sync_actions", self._session.handle, xr.ActionsSyncInfo(active_action_sets=active))
        state = api.call(
            "get_action_state_boolean", self._session.handle, xr.ActionStateGetInfo(action=self._talk)
        )
        return bool(state.is_active and state.current_state)

    def close(self) -> None:
        """Destroy the actions; harmless when the runtime is gone."""
        if self._set is not None:
            destroy("destroy_action_set", self._set)
            self._set = None
