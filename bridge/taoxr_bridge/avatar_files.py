"""The `.nnr` files that the bridge can give away: found, described, hashed.

Only what a client is told is read here; a renderer checks the whole file when it loads it. The
format is described in docs/nnr-format.md.
"""

import hashlib
import os
import re
import threading
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taoxr.errors import NotFoundError, TaoxrError
from taoxr.v1 import avatar_pb2 as pb

# Entry points "folder of a package": `package:folder` holds `.nnr` files. Nothing is imported for it.
GROUP: Final = "taoxr.avatars"
DEFAULT: Final = "default"
SUFFIX: Final = ".nnr"
_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SCENE: Final = "scene.json"
_MAX_SCENE_BYTES: Final = 4 << 20
# What zipfile raises on damaged input (CPython 3.11 to 3.13).
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OSError,
    LookupError,
)  # fmt: skip

_Key: TypeAlias = tuple[int, int, int, int]
_Metres: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
_Vector: TypeAlias = tuple[_Metres, _Metres, _Metres]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _EyeBones(_Part):
    left: str
    right: str


class _Rig(_Part):
    space: str
    blendshapes: tuple[str, ...]
    bones: tuple[str, ...]
    eye_bones: _EyeBones
    head_bone: str


class _Landmarks(_Part):
    height: _Metres
    eye_left: _Vector
    eye_right: _Vector
    mouth: _Vector
    head_center: _Vector


class _Scene(_Part):
    format: Literal["nnr"]
    name: str
    licence: str
    credits: tuple[str, ...]
    rig: _Rig
    landmarks: _Landmarks


class AvatarFileError(TaoxrError):
    """A file is not an avatar."""


@dataclass(frozen=True, slots=True)
class AvatarFile:
    """An avatar that can be given away.

    Attributes:
        avatar: What lists show.
        rig: What drives it.
    """

    avatar: pb.Avatar
    rig: pb.GetRigResponse


class AvatarFiles:
    """The avatars in some folders, read anew when a file changes. Blocks on disk; any thread may call.

    Args:
        folders: Where `.nnr` files lie; of two with the same name the first counts.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._known: dict[Path, tuple[_Key, AvatarFile | AvatarFileError]] = {}
        # One reader at a time: many clients at once must not hash the same file many times.
        self._lock = threading.Lock()

    def all(self) -> list[AvatarFile]:
        """Every avatar, the default one first, the others by id; a broken file is left out and logged."""
        files: list[AvatarFile] = []
        for avatar_id, path in self._paths().items():
            try:
                file, handle = self._open(avatar_id, path)
            except (AvatarFileError, OSError) as error:
                structlog.get_logger().warning("avatar left out", path=str(path), reason=str(error))
            else:
                handle.close()
                files.append(file)
        return sorted(files, key=lambda f: (f.avatar.avatar_id != DEFAULT, f.avatar.avatar_id))

    def open(self, avatar_id: str) -> tuple[AvatarFile, BufferedReader]:
        """An avatar and its file, open at the first byte; an empty id means the default one.

        Raises:
            NotFoundError: There is none of this name.
            AvatarFileError: Its file is broken.
        """
        paths = self._paths()
        wanted = avatar_id or (DEFAULT if DEFAULT in paths else next(iter(paths), DEFAULT))
        # Looked up among what is there: a name never becomes a path.
        if wanted not in paths:
            have = ", ".join(paths) or "none"
            raise NotFoundError(f"there is no avatar {wanted[:64]!r}; this server has: {have}")
        try:
            return self._open(wanted, paths[wanted])
        except OSError as error:
            raise AvatarFileError(f"the file of avatar {wanted!r} cannot be read ({error})") from error

    def _paths(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for folder in self._folders:
            with suppress(FileNotFoundError, NotADirectoryError):  # one that vanished holds no avatars
                for path in sorted(folder.iterdir()):
                    if path.suffix == SUFFIX and _ID.fullmatch(path.stem) and path.is_file():
                        found.setdefault(path.stem, path)
        return dict(sorted(found.items()))

    def _open(self, avatar_id: str, path: Path) -> tuple[AvatarFile, BufferedReader]:
        handle = path.open("rb")
        try:
            with self._lock:
                file = self._described(avatar_id, path, handle)
            handle.seek(0)
        except BaseException:
            handle.close()
            raise
        return file, handle

    def _described(self, avatar_id: str, path: Path, handle: BufferedReader) -> AvatarFile:
        stat = _stat(handle)
        known = self._known.get(path)
        if known is None or known[0] != stat:
            try:
                known = (stat, _describe(avatar_id, handle, stat[2]))
            except AvatarFileError as error:
                known = (stat, error)
            self._known[path] = known
        if isinstance(known[1], AvatarFileError):
            raise AvatarFileError(str(known[1]))
        return known[1]


def installed_folders() -> list[Path]:
    """Folders of avatars that installed packages bring, without importing the packages."""
    folders: list[Path] = []
    for point in entry_points(group=GROUP):
        spec = find_spec(point.module)
        locations = (spec and spec.submodule_search_locations) or ()
        folders.extend(Path(location) / point.attr for location in locations)
    return folders


def _stat(handle: BufferedReader) -> _Key:
    stat = os.fstat(handle.fileno())
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def _describe(avatar_id: str, handle: BufferedReader, size: int) -> AvatarFile:
    scene = _scene(handle)
    handle.seek(0)
    avatar = pb.Avatar(
        avatar_id=avatar_id,
        name=scene.name,
        licence=scene.licence,
        credits=scene.credits,
        size_bytes=size,
        sha256=hashlib.file_digest(handle, "sha256").hexdigest(),
        space=scene.rig.space,
    )
    rig, places = scene.rig, scene.landmarks
    return AvatarFile(
        avatar,
        pb.GetRigResponse(
            avatar_id=avatar_id,
            space=rig.space,
            blendshape_names=rig.blendshapes,
            bone_names=rig.bones,
            head_bone=rig.head_bone,
            left_eye_bone=rig.eye_bones.left,
            right_eye_bone=rig.eye_bones.right,
            height_m=places.height,
            left_eye=_position(places.eye_left),
            right_eye=_position(places.eye_right),
            mouth=_position(places.mouth),
            head=_position(places.head_center),
        ),
    )


def _scene(handle: BufferedReader) -> _Scene:
    try:
        with zipfile.ZipFile(handle) as container, container.open(_SCENE) as entry:
            text = entry.read(_MAX_SCENE_BYTES + 1)
    except _ZIP_ERRORS as error:
        raise AvatarFileError(f"not an .nnr file ({error})") from error
    if len(text) > _MAX_SCENE_BYTES:
        raise AvatarFileError(f"its {_SCENE} is over {_MAX_SCENE_BYTES} bytes")
    try:
        return _Scene.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise AvatarFileError(f"its {_SCENE} is not valid at {where or 'the top'}: {first['msg']}") from error


def _position(place: _Vector) -> pb.Position:
    return pb.Position(x_m=place[0], y_m=place[1], z_m=place[2])
