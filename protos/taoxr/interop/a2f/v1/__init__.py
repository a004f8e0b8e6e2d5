"""Version 1; see a2f.proto."""
