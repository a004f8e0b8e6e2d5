"""The avatar in a window: ``taoxr view``."""
