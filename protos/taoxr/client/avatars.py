"""The client's side of ``taoxr.v1.AvatarService``."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from grpc import aio

from taoxr.client import out_file
from taoxr.errors import NotFoundError, TaoxrError, UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import avatar_pb2 as pb
from taoxr.v1.avatar_pb2_grpc import AvatarServiceStub

_TIMEOUT_S: Final = 60.0  # the server may have to hash large files first
_FIRST_DELAY_S: Final = 0.2
_LONGEST_DELAY_S: Final = 3.0

Metres: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Avatar:
    """An avatar that a server gives away; see ``Avatar`` in avatar.proto."""

    avatar_id: str
    name: str
    licence: str
    credits: tuple[str, ...]
    size_bytes: int
    sha256: str
    space: str


@dataclass(frozen=True, slots=True)
class AvatarRig:
    """What drives an avatar; see ``GetRigResponse`` in avatar.proto.

    Attributes:
        avatar_id: Whose rig this is.
        space: Coefficient space of the face.
        blendshapes: Names of the coefficients, in order.
        bones: Names of the bones, in order.
        head_bone: The bone of the head.
        eye_bones: The bones of the left and the right eyeball.
        height_m: Height above the ground.
        eyes_m: Centres of the left and the right eye at rest (x to its left, y up, z to its front).
        mouth_m: Centre of the lips at rest.
        head_m: Centre of the head at rest.
    """

    avatar_id: str
    space: str
    blendshapes: tuple[str, ...]
    bones: tuple[str, ...]
    head_bone: str
    eye_bones: tuple[str, str]
    height_m: float
    eyes_m: tuple[Metres, Metres]
    mouth_m: Metres
    head_m: Metres


async def list_avatars(channel: aio.Channel) -> tuple[Avatar, ...]:
    """All avatars, the default one first."""
    try:
        response = await AvatarServiceStub(channel).ListAvatars(pb.ListAvatarsRequest(), timeout=_TIMEOUT_S)
    except aio.AioRpcError as error:
        raise error_of(error) from error
    return tuple(_avatar(a) for a in response.avatars)


async def get_rig(channel: aio.Channel, avatar_id: str) -> AvatarRig:
    """What drives an avatar."""
    try:
        rig = await AvatarServiceStub(channel).GetRig(
            pb.GetRigRequest(avatar_id=avatar_id), timeout=_TIMEOUT_S
        )
    except aio.AioRpcError as error:
        raise error_of(error) from error
    return AvatarRig(
        rig.avatar_id, rig.space, tuple(rig.blendshape_names), tuple(rig.bone_names), rig.head_bone,
        (rig.left_eye_bone, rig.right_eye_bone), rig.height_m,
        (_metres(rig.left_eye), _metres(rig.right_eye)), _metres(rig.mouth), _metres(rig.head),
    )  # fmt: skip


async def find_avatar(channel: aio.Channel, avatar_id: str) -> Avatar:
    """An avatar of the list; an empty id means the default one.

    Raises:
        NotFoundError: There is none of this name.
    """
    avatars = await list_avatars(channel)
    known = next((a for a in avatars if avatar_id in ("", a.avatar_id)), None)
    if known is None:
        have = ", ".join(a.avatar_id for a in avatars) or "none"
        raise NotFoundError(f"there is no avatar {avatar_id or 'at all'!r}; this server has: {have}")
    return known


def part_of(path: Path, avatar: Avatar) -> Path:
    """Where the first bytes of a download lie until it is complete; the name says of which file they are."""
    return path.with_name(f".{path.name}.{avatar.sha256[:16]}.part")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def download(
    channel: aio.Channel,
    path: Path,
    avatar_id: str,
    *,
    patience_s: float,
    on_progress: Callable[[int], None] | None,
) -> Avatar:
    """Downloads an avatar; see `taoxr.client.Client.download_avatar`."""
    out_file.check(path, field="path")
    avatar = await find_avatar(channel, avatar_id)
    part = part_of(path, avatar)
    deadline, delay = time.monotonic() + patience_s, _FIRST_DELAY_S
    while True:
        before = _size(part)
        try:
            await _load(channel, part, avatar, on_progress)
            break
        except UnavailableError:  # the network or the bridge went away, or it is full
            if _size(part) > before:
                deadline, delay = time.monotonic() + patience_s, _FIRST_DELAY_S
            if time.monotonic() + delay > deadline:
                raise
        await asyncio.sleep(delay)
        delay = min(2 * delay, _LONGEST_DELAY_S)
    sha256 = await asyncio.to_thread(sha256_of, part)
    if sha256 != avatar.sha256:
        part.unlink()
        raise TaoxrError(
            f"the download of avatar {avatar.avatar_id!r} is damaged: its SHA-256 is {sha256}, "
            f"expected {avatar.sha256}; try again"
        )
    part.replace(path)
    return avatar


async def _load(
    channel: aio.Channel, part: Path, avatar: Avatar, on_progress: Callable[[int], None] | None
) -> None:
    """Appends the rest of the file to what is there."""
    offset = min(_size(part), avatar.size_bytes)
    request = pb.DownloadAvatarRequest(avatar_id=avatar.avatar_id, offset=offset, sha256=avatar.sha256)
    call = AvatarServiceStub(channel).DownloadAvatar(request)
    try:
        with part.open("ab", buffering=0) as file:
            file.truncate(offset)
            async for response in call:
                if response.WhichOneof("payload") != "chunk":
                    continue
                if response.chunk.offset != offset:
                    raise TaoxrError(f"the server sent byte {response.chunk.offset}, expected {offset}")
                offset += file.write(response.chunk.data)
                if on_progress is not None:
                    on_progress(offset)
    except aio.AioRpcError as error:
        raise error_of(error) from error
    except OSError as error:
        raise TaoxrError(f"the download cannot be written to {part}: {error.strerror}") from error
    finally:
        call.cancel()


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _avatar(avatar: pb.Avatar) -> Avatar:
    return Avatar(
        avatar.avatar_id, avatar.name, avatar.licence, tuple(avatar.credits), avatar.size_bytes,
        avatar.sha256, avatar.space,
    )  # fmt: skip


def _metres(place: pb.Position) -> Metres:
    return (place.x_m, place.y_m, place.z_m)
