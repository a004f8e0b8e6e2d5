"""The gRPC server between clients and model workers: turns, pacing, interruption. No model code."""
