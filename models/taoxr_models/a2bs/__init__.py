"""Audio or phonemes to blendshapes."""
