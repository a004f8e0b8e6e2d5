"""Trains and measures the network that moves lips to any voice.

Not needed to run taoxr, and never imported by it. In order, each a command (``python -m ...``):
`speak` makes the corpus with synthetic voices, `train` fits the head, `evaluate` scores it on voices and
people it never heard. Needs PyTorch (extra ``training``) and the voices named in ``docs/lips.md``.
"""
