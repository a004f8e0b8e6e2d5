"""The client's side of ``taoxr.v1.AvatarService``."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from grpc import aio

from taoxr.errors import NotFoundError, TaoxrError
from taoxr.rpc import error_of
from taoxr.v1 import avatar_pb2 as pb
from taoxr.v1.avatar_pb2_grpc import AvatarServiceStub

_TIMEOUT_S: Final = 60.0  # the server may have to hash large files first

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


async def download(channel: aio.Channel, path: Path, avatar_id: str) -> Avatar:
    """Downloads an avatar; see `taoxr.client.Client.download_avatar`."""
    avatars = await list_avatars(channel)
    known = next((a for a in avatars if avatar_id in ("", a.avatar_id)), None)
    if known is None:
        have = ", ".join(a.avatar_id for a in avatars) or "none"
        raise NotFoundError(f"there is no avatar {avatar_id!r}; this server has: {have}")
    # The name says which file these are the first bytes of.
    part = path.with_name(f".{path.name}.{known.sha256[:16]}.part")
    offset = min(part.stat().st_size if part.exists() else 0, known.size_bytes)
    request = pb.DownloadAvatarRequest(avatar_id=known.avatar_id, offset=offset, sha256=known.sha256)
    call = AvatarServiceStub(channel).DownloadAvatar(request)
    try:
        with part.open("ab") as file:
            file.truncate(offset)
            async for response in call:
                file.write(response.chunk.data)
    except aio.AioRpcError as error:
        raise error_of(error) from error
    finally:
        call.cancel()
    _finish(part, path, known)
    return known


def _finish(part: Path, path: Path, avatar: Avatar) -> None:
    with part.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != avatar.sha256:
        part.unlink()
        raise TaoxrError(
            f"the download of avatar {avatar.avatar_id!r} is damaged: its SHA-256 is {sha256}, "
            f"expected {avatar.sha256}; try again"
        )
    part.replace(path)


def _avatar(avatar: pb.Avatar) -> Avatar:
    return Avatar(
        avatar.avatar_id, avatar.name, avatar.licence, tuple(avatar.credits), avatar.size_bytes,
        avatar.sha256, avatar.space,
    )  # fmt: skip


def _metres(place: pb.Position) -> Metres:
    return (place.x_m, place.y_m, place.z_m)
