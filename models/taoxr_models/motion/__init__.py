"""The body's motion: procedural, without a model file, the same for the same seed and the same requests.

`taoxr_models.motion.mover` puts it together; the parts are pure functions of time (`ease`), smooth curves
through planned poses (`curves`, `gestures`, `actions`, `gaze`) and the joints they move (`joints`).
"""
