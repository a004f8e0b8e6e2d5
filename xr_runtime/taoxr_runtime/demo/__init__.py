"""The demo: a live conversation, recorded with its arrival times, then filmed from that record."""
