"""NVIDIA Audio2Face-3D: messages with its field numbers."""
