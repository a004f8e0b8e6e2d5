"""Other people's protocols that taoxr speaks, as messages of its own."""
