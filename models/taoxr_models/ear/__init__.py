"""Voice activity and speech recognition."""
