"""Converting and quantising a user's own models for MNN, with a report of what it costs in accuracy."""
