"""``taoxr bench``: how fast conversations and the bridge itself are, measured from a client's side."""
