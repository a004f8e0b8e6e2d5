"""``taoxr avatars``: the avatars that a bridge gives away."""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from taoxr.client import out_file
from taoxr.client.avatars import part_of, sha256_of
from taoxr.client.cli_common import Server, Target, TlsCa, TlsCert, TlsKey, TokenFile, client_for, console
from taoxr.client.client import Client
from taoxr.errors import UnavailableError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""List and download the avatars that a bridge gives away.

For example:

```
taoxr avatars list --target 192.168.1.5:50061
taoxr avatars get ada --target 192.168.1.5:50061
taoxr avatars download ada -o ada.nnr --target 192.168.1.5:50061
```
""",
)

_PATIENCE_S: Final = 60.0
_MB: Final = 1_000_000

_Id = Annotated[str, typer.Argument(metavar="[ID]", help="Which avatar; the default one if left out.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_(
    as_json: _Json = False,
    target: Target = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    token_file: TokenFile = None,
) -> None:
    """Lists the avatars, the default one first."""
    asyncio.run(_list(as_json, Server(target, tls_ca, tls_cert, tls_key, token_file)))


async def _list(as_json: bool, server: Server) -> None:
    async with client_for(server) as client:
        found = await client.avatars()
    if as_json:
        _print_json([asdict(avatar) for avatar in found])
        return
    if not found:
        console.print("this bridge gives no avatars away (see `taoxr serve --avatars`)")
        return
    table = Table("id", "name", "licence", "size", "face", box=box.SIMPLE)
    for avatar in found:
        size = f"{avatar.size_bytes / _MB:.1f} MB"
        table.add_row(avatar.avatar_id, avatar.name, avatar.licence, size, avatar.space)
    Console().print(table)


@app.command()
def get(
    avatar_id: _Id = "",
    as_json: _Json = False,
    target: Target = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    token_file: TokenFile = None,
) -> None:
    """Shows an avatar's rig: what drives its face and body, and its measures.

    JSON holds all names of the coefficients and bones.
    """
    asyncio.run(_get(avatar_id, as_json, Server(target, tls_ca, tls_cert, tls_key, token_file)))


async def _get(avatar_id: str, as_json: bool, server: Server) -> None:
    async with client_for(server) as client:
        rig = await client.avatar_rig(avatar_id)
    if as_json:
        _print_json(asdict(rig))
        return
    table = Table.grid(padding=(0, 2))
    eyes = " and ".join(rig.eye_bones)
    rows = (
        ("avatar", rig.avatar_id),
        ("face", f"{len(rig.blendshapes)} coefficients ({rig.space})"),
        ("body", f"{len(rig.bones)} bones; head {rig.head_bone}; eyes {eyes}"),
        ("height", f"{rig.height_m:.2f} m, eyes at {rig.eyes_m[0][1]:.2f} m"),
    )
    for name, value in rows:
        table.add_row(f"[dim]{name}[/]", value)
    Console(highlight=False).print(table)


@app.command()
def download(
    avatar_id: _Id = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.  [default: ID.nnr]")] = None,
    target: Target = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    token_file: TokenFile = None,
) -> None:
    """Downloads an avatar and verifies it.

    A file that exists is replaced once the new one is complete; if it is the same already, nothing is loaded.
    After a broken connection the download goes on by itself for a minute; after that, and after Ctrl-C, what
    was loaded stays in a hidden file beside the other, and the same command goes on from there.

    For example:

    ```
    taoxr avatars download
    taoxr avatars download ada -o models/ada.nnr --target 192.168.1.5:50061 --tls-ca ca.pem
    ```
    """
    server = Server(target, tls_ca, tls_cert, tls_key, token_file)
    if out is not None:
        out_file.check(out, field="--out")
    asyncio.run(_download(avatar_id, out, server))


async def _download(avatar_id: str, out: Path | None, server: Server) -> None:
    async with client_for(server) as client:
        await _load(client, avatar_id, out)


async def _load(client: Client, avatar_id: str, out: Path | None) -> None:
    avatar = await client.avatar(avatar_id)
    path = out or Path(f"{avatar.avatar_id}.nnr")
    out_file.check(path, field="--out")
    if path.is_file() and path.stat().st_size == avatar.size_bytes and sha256_of(path) == avatar.sha256:
        console.print(f"{path} is this avatar already", soft_wrap=True)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    part = part_of(path, avatar)
    had = part.stat().st_size if part.exists() else 0
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task(avatar.avatar_id, total=avatar.size_bytes, completed=had)
            await client.download_avatar(
                path,
                avatar.avatar_id,
                patience_s=_PATIENCE_S,
                on_progress=lambda done: progress.update(task, completed=done),
            )
    except (asyncio.CancelledError, UnavailableError):  # Ctrl-C cancels
        have = part.stat().st_size if part.exists() else 0
        told = f"{have / _MB:.1f} of {avatar.size_bytes / _MB:.1f} MB are kept in {part}"
        console.print(f"{told}; the same command goes on from there", soft_wrap=True)
        raise
    went_on = f" (went on at {had / _MB:.1f} MB)" if had else ""
    licence = f"{avatar.name}, {avatar.licence}, {avatar.size_bytes / _MB:.1f} MB"
    console.print(f"{path}: {licence}, SHA-256 verified{went_on}", soft_wrap=True)


def _print_json(content: Any) -> None:
    sys.stdout.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
