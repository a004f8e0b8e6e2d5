"""Protocols between the bridge and its workers."""
