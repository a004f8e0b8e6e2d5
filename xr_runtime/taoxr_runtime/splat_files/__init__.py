"""Static clouds of Gaussian splats from files of other programs; see docs/splat-files.md."""

from taoxr_runtime.splat_files.cloud import Cloud
from taoxr_runtime.splat_files.errors import SplatFileError
from taoxr_runtime.splat_files.reading import Imported, read

__all__ = ["Cloud", "Imported", "SplatFileError", "read"]
