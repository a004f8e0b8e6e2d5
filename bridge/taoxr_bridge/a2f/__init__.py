"""NVIDIA Audio2Face-3D's protocol on our lips, so that its clients can be pointed at the bridge.

See docs/audio2face.md. The protocol is NVIDIA's (Apache-2.0); messages and code are ours.
"""

from taoxr_bridge.a2f.service import CONTROLLER, EXPORT, Audio2FaceService, add_to_server

__all__ = ["CONTROLLER", "EXPORT", "Audio2FaceService", "add_to_server"]
