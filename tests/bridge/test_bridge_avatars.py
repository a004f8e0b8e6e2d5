"""AvatarService: the packaged avatar, a folder of avatars, broken files, broken downloads."""

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from grpc import StatusCode, aio
from typer.testing import CliRunner

from taoxr import arkit
from taoxr.errors import InvalidInputError, NotFoundError, TaoxrError
from taoxr.v1 import avatar_pb2 as pb
from taoxr.v1.avatar_pb2_grpc import AvatarServiceStub
from taoxr_bridge.avatar_files import AvatarFileError, AvatarFiles, installed_folders
from taoxr_bridge.cli import app as serve_app

pytestmark = pytest.mark.process

CHUNK = 64 * 1024
PACKAGED = Path(__file__).parents[2] / "xr_runtime/taoxr_runtime/assets/default.nnr"


def scene(**changes):
    return {
        "format": "nnr",
        "name": "Ada",
        "licence": "CC0-1.0",
        "credits": ["somebody"],
        "rig": {
            "space": "arkit52",
            "blendshapes": list(arkit.NAMES),
            "bones": ["root", "head", "eye.L", "eye.R"],
            "eye_bones": {"left": "eye.L", "right": "eye.R"},
            "head_bone": "head",
        },
        "landmarks": {
            "height": 1.7,
            "eye_left": [0.03, 1.6, 0.1],
            "eye_right": [-0.03, 1.6, 0.1],
            "mouth": [0, 1.5, 0.12],
            "head_center": [0, 1.6, 0],
        },
    } | changes


def nnr(content: object, extra: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as container:
        container.writestr("scene.json", content if isinstance(content, bytes) else json.dumps(content))
        container.writestr("tensors/x.npy", bytes(i * 7 % 251 for i in range(extra)))
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "avatars"
    folder.mkdir()
    (folder / "zoe.nnr").write_bytes(nnr(scene(name="Zoe")))
    (folder / "ada.nnr").write_bytes(nnr(scene(), extra=3 * CHUNK + 5))
    return folder


async def test_the_packaged_avatar_is_given_away_by_default(fake_bridge, tmp_path):
    async with fake_bridge() as (client, _fakes):
        first, *_ = await client.avatars()
        rig = await client.avatar_rig()
        got = await client.download_avatar(tmp_path / "avatar.nnr")
    data = PACKAGED.read_bytes()
    assert got == first
    assert (first.avatar_id, first.size_bytes) == ("default", len(data))
    assert first.sha256 == hashlib.sha256(data).hexdigest()
    assert first.licence == "CC0-1.0"
    assert (tmp_path / "avatar.nnr").read_bytes() == data
    assert [p.name for p in tmp_path.iterdir()] == ["avatar.nnr"]
    assert rig.blendshapes == arkit.NAMES
    assert {rig.head_bone, *rig.eye_bones} <= set(rig.bones)
    left, right = rig.eyes_m
    assert left[0] > 0 > right[0]
    assert rig.mouth_m[1] < left[1] < rig.height_m


def test_the_packaged_avatar_is_found_without_importing_the_stage():
    code = (
        "import sys; from taoxr_bridge.avatar_files import installed_folders; print(*installed_folders());"
        "sys.exit('taoxr_runtime' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout.strip()) == (0, str(PACKAGED.parent))
    assert installed_folders() == [PACKAGED.parent]


async def test_a_folder_of_avatars(fake_bridge, folder):
    async with fake_bridge(avatars=folder) as (client, _fakes):
        assert [(a.avatar_id, a.name) for a in await client.avatars()] == [("ada", "Ada"), ("zoe", "Zoe")]
        assert (await client.avatar_rig()).avatar_id == "ada"
        (folder / "default.nnr").write_bytes(nnr(scene(name="Eve")))
        assert [a.avatar_id for a in await client.avatars()] == ["default", "ada", "zoe"]
        assert (await client.avatar_rig()).avatar_id == "default"
        (folder / "zoe.nnr").unlink()
        with pytest.raises(NotFoundError, match="no avatar 'zoe'; this server has: ada, default"):
            await client.avatar_rig("zoe")


@pytest.mark.parametrize("avatar_id", ["../ada", "/etc/passwd", "ada.nnr", "a\0b", "x" * 5000, "ad\u0430"])
async def test_names_never_become_paths(fake_bridge, folder, avatar_id):
    async with fake_bridge(avatars=folder / ".." / "avatars") as (client, _fakes):
        with pytest.raises(NotFoundError):
            await client.avatar_rig(avatar_id)
        with pytest.raises(aio.AioRpcError) as caught:
            await download(client, avatar_id=avatar_id)
        assert caught.value.code() is StatusCode.NOT_FOUND


async def download(client, **request) -> tuple[pb.Avatar, list[pb.FileChunk]]:
    call = AvatarServiceStub(client._channel).DownloadAvatar(pb.DownloadAvatarRequest(**request))
    first, *rest = [response async for response in call]
    return first.avatar, [response.chunk for response in rest]


@pytest.mark.parametrize("offset", [0, 1, CHUNK, CHUNK + 7, 2 * CHUNK - 1])
async def test_downloads_go_on_at_any_offset(fake_bridge, folder, offset):
    data = (folder / "ada.nnr").read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    async with fake_bridge(avatars=folder) as (client, _fakes):
        avatar, chunks = await download(client, avatar_id="ada", offset=offset, sha256=sha256)
        _, nothing = await download(client, avatar_id="ada", offset=len(data), sha256=sha256)
    assert avatar.sha256 == sha256
    assert b"".join(c.data for c in chunks) == data[offset:]
    assert max(len(c.data) for c in chunks) <= CHUNK
    assert [c.offset for c in chunks] == list(range(offset, len(data), CHUNK))
    assert nothing == []


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"offset": -1, "sha256": "SHA"}, StatusCode.INVALID_ARGUMENT),
        ({"offset": 1 << 40, "sha256": "SHA"}, StatusCode.INVALID_ARGUMENT),
        ({"offset": 1}, StatusCode.INVALID_ARGUMENT),
        ({"offset": 1, "sha256": "0" * 64}, StatusCode.FAILED_PRECONDITION),
    ],
)
async def test_wrong_downloads_are_refused(fake_bridge, folder, request_, code):
    sha256 = hashlib.sha256((folder / "ada.nnr").read_bytes()).hexdigest()
    request = {key: sha256 if value == "SHA" else value for key, value in request_.items()}
    async with fake_bridge(avatars=folder) as (client, _fakes):
        with pytest.raises(aio.AioRpcError) as caught:
            await download(client, avatar_id="ada", **request)
    assert caught.value.code() is code


async def test_client_goes_on_with_a_broken_download(fake_bridge, folder, tmp_path):
    data = (folder / "ada.nnr").read_bytes()
    part = tmp_path / f".a.nnr.{hashlib.sha256(data).hexdigest()[:16]}.part"
    # What differs from the file, to see which bytes were loaded anew.
    part.write_bytes(b"!" * 10)
    async with fake_bridge(avatars=folder) as (client, _fakes):
        with pytest.raises(TaoxrError, match="damaged"):
            await client.download_avatar(tmp_path / "a.nnr", "ada")
        assert not part.exists()
        assert not (tmp_path / "a.nnr").exists()
        part.write_bytes(data[: CHUNK + 1])
        await client.download_avatar(tmp_path / "a.nnr", "ada")
    assert (tmp_path / "a.nnr").read_bytes() == data
    assert not part.exists()


async def test_download_survives_that_the_file_is_replaced(fake_bridge, folder):
    data = nnr(scene(), extra=100 * CHUNK)
    (folder / "ada.nnr").write_bytes(data)
    async with fake_bridge(avatars=folder) as (client, _fakes):
        request = pb.DownloadAvatarRequest(avatar_id="ada")
        call = aiter(AvatarServiceStub(client._channel).DownloadAvatar(request))
        got = [await anext(call), await anext(call)]
        (folder / "new").write_bytes(nnr(scene(name="New")))
        os.replace(folder / "new", folder / "ada.nnr")
        got += [response async for response in call]
        assert b"".join(r.chunk.data for r in got) == data
        assert {a.avatar_id: a.name for a in await client.avatars()}["ada"] == "New"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 not really",
        nnr(b"{"),
        nnr(b"\xff\xfe"),
        nnr([]),
        nnr(scene(format="other")),
        nnr(scene(rig={})),
        nnr(scene(landmarks={"height": float("nan")})),
        nnr(b" " * ((4 << 20) + 1)),
        nnr(scene(), extra=1000)[:-200],
    ],
    ids=["empty", "torn", "json", "utf-8", "list", "format", "rig", "nan", "huge", "cut"],
)
async def test_broken_files_are_left_out(fake_bridge, folder, content, capsys):
    (folder / "broken.nnr").write_bytes(content)
    async with fake_bridge(avatars=folder) as (client, _fakes):
        assert [a.avatar_id for a in await client.avatars()] == ["ada", "zoe"]
        with pytest.raises(TaoxrError) as caught:
            await client.avatar_rig("broken")
        assert not isinstance(caught.value, NotFoundError)
    assert "avatar left out" in capsys.readouterr().out


async def test_a_server_may_have_no_avatars(fake_bridge, tmp_path):
    async with fake_bridge(avatars=tmp_path) as (client, _fakes):
        assert await client.avatars() == ()
        with pytest.raises(NotFoundError, match="has: none"):
            await client.download_avatar(tmp_path / "a.nnr")


def test_a_folder_that_is_not_there_is_refused_at_the_start(tmp_path):
    result = CliRunner().invoke(serve_app, ["--port", "0", "--avatars", str(tmp_path / "nowhere")])
    assert isinstance(result.exception, InvalidInputError)
    assert "avatars" in str(result.exception)
    assert "nowhere" in str(result.exception)


def test_a_file_is_hashed_once_until_it_changes(folder, monkeypatch):
    hashed = 0
    digest = hashlib.file_digest

    def counting(*args):
        nonlocal hashed
        hashed += 1
        return digest(*args)

    monkeypatch.setattr(hashlib, "file_digest", counting)
    files = AvatarFiles([folder])
    for _ in range(3):
        assert len(files.all()) == 2
    assert hashed == 2
    (folder / "ada.nnr").write_bytes(nnr(scene(name="Ada 2")))
    assert [f.avatar.name for f in files.all()] == ["Ada 2", "Zoe"]
    assert hashed == 3


def test_errors_name_what_is_wrong(folder):
    (folder / "broken.nnr").write_bytes(nnr(scene(rig={**scene()["rig"], "bones": 3})))
    with pytest.raises(AvatarFileError, match=r"rig\.bones"):
        AvatarFiles([folder]).open("broken")
