"""The avatar in a headset, through OpenXR.

``api`` is the door to pyopenxr; ``binding`` joins OpenXR to OpenGL; ``runtime``, ``session`` and
``swapchain`` are what OpenXR has; ``app`` is the frame loop of `taoxr xr`.
"""
