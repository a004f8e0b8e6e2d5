"""Generated code of the public protocol ``taoxr.v1``."""
