"""The avatar as an assistant in your room or over another OpenXR app: ``taoxr ar``.

A composition of what ``taoxr_runtime.xr`` and ``taoxr_runtime.live`` have; its own are when the avatar is
spoken to, where it stands while the user walks about, and that timers speak up.
"""
