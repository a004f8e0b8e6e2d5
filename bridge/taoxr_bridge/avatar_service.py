"""``taoxr.v1.AvatarService``: lists and gives away the avatars of some folders."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, Final

from taoxr.errors import InvalidInputError, TaoxrError
from taoxr.v1 import avatar_pb2 as pb
from taoxr.v1 import avatar_pb2_grpc
from taoxr_bridge.avatar_files import AvatarFiles

_CHUNK_BYTES: Final = 64 * 1024


class AvatarService(avatar_pb2_grpc.AvatarServiceServicer):
    """Avatars for renderers that have none of their own; needs no worker.

    Args:
        folders: Where `.nnr` files lie.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._files = AvatarFiles(folders)

    async def ListAvatars(  # noqa: N802
        self, request: pb.ListAvatarsRequest, context: Any
    ) -> pb.ListAvatarsResponse:
        """Lists all avatars."""
        files = await asyncio.to_thread(self._files.all)
        return pb.ListAvatarsResponse(avatars=[f.avatar for f in files])

    async def GetRig(self, request: pb.GetRigRequest, context: Any) -> pb.GetRigResponse:  # noqa: N802
        """Tells what drives an avatar."""
        file, handle = await asyncio.to_thread(self._files.open, request.avatar_id)
        handle.close()
        return file.rig

    async def DownloadAvatar(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: pb.DownloadAvatarRequest, context: Any
    ) -> AsyncGenerator[pb.DownloadAvatarResponse]:
        """Sends the file of an avatar from an offset on."""
        file, handle = await asyncio.to_thread(self._files.open, request.avatar_id)
        with handle:
            avatar = file.avatar
            _check(request, avatar)
            yield pb.DownloadAvatarResponse(avatar=avatar)
            offset = request.offset
            handle.seek(offset)
            while offset < avatar.size_bytes:
                data = await asyncio.to_thread(handle.read, _CHUNK_BYTES)
                if not data:
                    raise TaoxrError("the file was shortened during the download; begin again")
                yield pb.DownloadAvatarResponse(chunk=pb.FileChunk(offset=offset, data=data))
                offset += len(data)


def _check(request: pb.DownloadAvatarRequest, avatar: pb.Avatar) -> None:
    if request.sha256 and request.sha256 != avatar.sha256:
        raise TaoxrError("the file is another one by now; begin again at offset 0")
    if not 0 <= request.offset <= avatar.size_bytes:
        raise InvalidInputError("offset", request.offset, f"0 to {avatar.size_bytes}, the size of the file")
    if request.offset and not request.sha256:
        raise InvalidInputError("sha256", request.sha256, "that of the download which goes on at the offset")
