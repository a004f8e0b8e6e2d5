"""What runs inside a model worker process, and the model catalogue."""
