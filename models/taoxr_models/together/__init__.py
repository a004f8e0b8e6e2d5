"""All workers at once: ``taoxr bench all``."""
