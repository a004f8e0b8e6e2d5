"""The ``taoxr`` command: finds each part's commands through entry points, imports them when called."""

import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import click
import typer.main
from rich.console import Console
from rich.markup import escape

from taoxr import __version__
from taoxr.errors import TaoxrError

# Kept here so that `taoxr --help` imports no part.
_SUMMARIES: Final = {
    "animate": "Make face frames for a recording.",
    "ar": "Converse with the avatar in your room, or over another app (OpenXR).",
    "avatars": "List and download the avatars that a bridge gives away.",
    "bench": "Measure how fast this machine runs taoxr's parts.",
    "demo": "Converse with the avatar live and make a video of it.",
    "doctor": "Check this machine: engine, graphics, headset, sound, models.",
    "models": "List, pull, verify and locate models.",
    "nnr": "Inspect, validate, run and compile .nnr scenes.",
    "render": "Render the avatar speaking a text or a WAV.",
    "say": "Speak a text: WAV and face frames.",
    "serve": "Run the bridge: the gRPC server with its model workers.",
    "servers": "Find bridges on the local network.",
    "splat": "Import, inspect and draw splat files of other programs.",
    "talk": "Converse in the terminal.",
    "view": "Converse with the avatar in a window.",
    "xr": "Converse with the avatar in a headset (OpenXR).",
}


class LazyGroup(click.Group):
    """Commands that are entry points, imported when called.

    Args:
        points: Group of the entry points; each is a Typer or click application.
        summaries: What help says of each.
        kwargs: As of ``click.Group``.
    """

    def __init__(self, *, points: str, summaries: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._points: dict[str, EntryPoint] = {p.name: p for p in entry_points(group=points)}
        self._summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in order."""
        return sorted(self._points)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, loaded when it is called."""
        point = self._points.get(cmd_name)
        if point is None:
            return None

        # Typer carries a click of its own, whose exceptions ours does not know: it runs by itself.
        def run() -> None:
            context = click.get_current_context()
            loaded = point.load()
            app = loaded if isinstance(loaded, click.Command) else typer.main.get_command(loaded)
            app.main(args=context.args, prog_name=context.command_path)

        settings = {
            "ignore_unknown_options": True,
            "allow_extra_args": True,
            "allow_interspersed_args": False,
        }
        return click.Command(cmd_name, context_settings=settings, callback=run, add_help_option=False)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes names and summaries."""
        rows = [(name, self._summaries.get(name, "(plug-in)")) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    cls=LazyGroup,
    points="taoxr.commands",
    summaries=_SUMMARIES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="taoxr")
def root() -> None:
    """An offline talking 3D avatar for XR.

    Start with `taoxr demo`, or `taoxr talk --text` for a conversation in the terminal.
    """


def main() -> None:
    """Runs the command line; our own errors become one line and exit status 1."""
    try:
        root(prog_name="taoxr")
    except TaoxrError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error:[/] {escape(str(error))}")
        sys.exit(1)
