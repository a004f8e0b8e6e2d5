"""Generated code of ``taoxr.worker.v1``."""
