"""The speaking role: text to audio with exact phoneme timing."""
