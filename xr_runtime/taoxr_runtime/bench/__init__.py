"""``taoxr bench render``: how fast splats are deformed, sorted and drawn."""
