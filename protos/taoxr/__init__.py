"""taoxr: an offline talking 3D avatar for XR. This package holds the protocols and the client."""

__version__ = "0.1.0"
