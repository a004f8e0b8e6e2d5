"""``taoxr render``."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Final, cast, get_args

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from taoxr import arkit
from taoxr.client import BodyTrack, Bones, Client, FaceTrack, Track, connect, private_bridge
from taoxr.client.channel import Access, access_from_environment
from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import Activity, Face, Idle, Motion, Skeleton
from taoxr_runtime.animation.body_player import HumanoidPose, Poses
from taoxr_runtime.animation.humanoid import BodyPose, Retarget
from taoxr_runtime.demo import replay
from taoxr_runtime.demo.captions import draw_caption
from taoxr_runtime.demo.film import save_picture
from taoxr_runtime.demo.options import check_fps, check_text, open_folder, parse_size
from taoxr_runtime.demo.refilm import Refilm
from taoxr_runtime.demo.sheet import MOST, compose
from taoxr_runtime.demo.shots import Framing, Shot
from taoxr_runtime.demo.sound import at_rate, read_sound
from taoxr_runtime.demo.stage import Stage, load_avatar, open_stage
from taoxr_runtime.demo.video import open_video
from taoxr_runtime.demo.voices import FILM_HZ
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.stereo import Stereo

app = typer.Typer(add_completion=False)

_FPS: Final = 24.0
_VIEWS: Final = ("full", "waist", "bust", "face")
# The avatar is there before it speaks and after.
_LEAD_IN_US: Final = 400_000
_LEAD_OUT_US: Final = 600_000


@app.command()
def render(
    out: Annotated[Path, typer.Option("--out", "-o", help="The result: a .mp4 film or a .png picture.")],
    text: Annotated[str, typer.Option(help="What the avatar says.")] = "",
    wav: Annotated[Path | None, typer.Option(help="A voice to move the lips to.")] = None,
    conversation: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A conversation that `taoxr demo` recorded.")
    ] = None,
    expression: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of an ARKit shape, for a picture; may be repeated.")
    ] = None,
    at: Annotated[
        float | None, typer.Option(help="Seconds into the speech or the conversation, for a picture.")
    ] = None,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels.")] = "540x720",
    fps: Annotated[
        float | None, typer.Option(help="Pictures per second, 5 to 60; 24, or a conversation's own.")
    ] = None,
    view: Annotated[
        str, typer.Option(help="full, waist, bust or face; bust, or a conversation's moving camera.")
    ] = "",
    stereo: Annotated[
        str, typer.Option(help="sbs: a picture for each eye, side by side; anaglyph: for red-cyan glasses.")
    ] = "off",
    sheet: Annotated[
        int | None, typer.Option(help="So many moments of the speech on one .png, 2 to 12.")
    ] = None,
    yaw: Annotated[float, typer.Option(help="Degrees that the camera stands to the avatar's left.")] = 0.0,
    target: Annotated[str, typer.Option(help="host:port of a running bridge; else one is started.")] = "",
    avatar: Annotated[Path | None, typer.Option(help="Another .nnr scene.")] = None,
) -> None:
    """Render the avatar speaking a text or a WAV, a recorded conversation, or a picture of it.

    The lips of a WAV come from its sound alone, see docs/lips.md. Examples:

    taoxr render --text "Hello there." -o hello.mp4

    taoxr render --wav voice.wav --sheet 8 -o sheet.png

    taoxr render --text "Hello there." --stereo sbs --size 960x1080 -o hello_3d.mp4

    taoxr demo && taoxr render --conversation taoxr-demo --view face -o close.mp4
    """
    width, height = parse_size(size)
    rate = check_fps(_FPS if fps is None else fps)
    if out.suffix.lower() not in (".mp4", ".png"):
        raise InvalidInputError("--out", str(out), "a name that ends in .mp4 or .png")
    if view and view not in _VIEWS:
        raise InvalidInputError("--view", view, f"one of {', '.join(_VIEWS)}")
    if stereo not in get_args(Stereo):
        raise InvalidInputError("--stereo", stereo, f"one of {', '.join(get_args(Stereo))}")
    if sheet is not None:
        _check_sheet(sheet, out, at, text or wav or conversation)
    if conversation is not None:
        others = {"--text": text, "--wav": wav, "--expression": expression, "--fps": fps, "--target": target}
        _check_alone(conversation, others)
    if text and wav:
        raise InvalidInputError("--wav", str(wav), "either --text or --wav")
    film = out.suffix.lower() == ".mp4"
    if film and not (text or wav or conversation):
        raise InvalidInputError("--text", text, "a text, a --wav or a --conversation to make a film of")
    face = parse_expression(expression or [])
    voice = read_sound(wav) if wav else None
    words = check_text(text) if text else ""
    recorded = None if conversation is None else replay.read(conversation)
    console = Console(stderr=True, highlight=False)
    scene = load_avatar(avatar)
    open_folder(out.parent)

    speech = asyncio.run(_speech(words, voice, target, console)) if words or voice else None
    framing = Framing(scene.landmarks, width, height)
    shot: Shot = getattr(framing, view or "bust").turned(yaw)
    camera = framing.view(shot)
    distance = float(np.linalg.norm(camera.position - scene.landmarks.head_center))
    with open_stage(scene, cast("Stereo", stereo), distance) as stage:
        if recorded is not None:
            drawn = Refilm(recorded, stage, framing, shot if view or yaw else None)
            if film:
                drawn.film(out)
            elif sheet is not None:
                drawn.sheet(out, sheet)
            else:
                drawn.picture(out, at)
        elif film:
            assert speech is not None
            _film(stage, camera, out, rate, speech)
        elif sheet is not None:
            assert speech is not None
            save_picture(out, _sheet(stage, camera, rate, speech, sheet))
        else:
            save_picture(out, _picture(stage, camera, rate, speech, at, face))
    console.print(f"  {out}", soft_wrap=True)


def parse_expression(pairs: list[str]) -> NDArray[np.float32]:
    """Coefficients [52] from ``NAME=VALUE`` texts.

    Raises:
        InvalidInputError: An unknown name, or a value that is not from 0 to 1.
    """
    weights = np.zeros(len(arkit.NAMES), np.float32)
    for pair in pairs:
        name, _, number = pair.partition("=")
        if name not in arkit.INDEX:
            raise InvalidInputError("--expression", name, "an ARKit name such as jawOpen or eyeBlinkLeft")
        try:
            value = float(number)
        except ValueError as error:
            raise InvalidInputError("--expression", pair, "NAME=VALUE such as jawOpen=0.5") from error
        if not 0.0 <= value <= 1.0:
            raise InvalidInputError("--expression", pair, "a value from 0 to 1")
        weights[arkit.INDEX[name]] = value
    return weights


class _Speech:
    """A voice, int16 [n] at `FILM_HZ`, with its face and, where it has one, its body."""

    def __init__(
        self,
        pcm: NDArray[np.int16],
        rate_hz: int,
        face: FaceTrack,
        bones: Bones | None = None,
        body: BodyTrack | None = None,
    ) -> None:
        self.pcm = at_rate(pcm, rate_hz, FILM_HZ)
        self.track = face
        self._names = () if bones is None else bones.names
        self._poses = Poses()
        if body is not None:
            self._poses.add(body)

    def body(self, media_us: int, retarget: Retarget) -> BodyPose | None:
        """The body at a time; before and after its track as at the ends of it."""
        if self._poses.span_us is None:
            return None
        return retarget.pose(HumanoidPose(self._names, *self._poses.at(media_us)))

    @property
    def duration_us(self) -> int:
        return len(self.pcm) * 1_000_000 // FILM_HZ


async def _speech(
    text: str, voice: tuple[NDArray[np.int16], int] | None, target: str, console: Console
) -> _Speech:
    access = access_from_environment() if target else Access()
    async with AsyncExitStack() as stack:
        if not target:
            with console.status("starting the bridge and its models"):
                target = await stack.enter_async_context(private_bridge())
        client: Client = await stack.enter_async_context(connect(target, **access))
        if voice is None:
            said = await client.say(text, tracks=frozenset({Track.BODY}))
            return _Speech(said.pcm, said.sample_rate_hz, said.face, said.bones, said.body)
        pcm, rate_hz = voice
        face = await client.animate_audio(pcm, rate_hz)
        if face.rig.provisional:
            console.print("[yellow]The lips of a foreign voice come from a provisional method.[/]")
        return _Speech(pcm, rate_hz, face)


def _film(stage: Stage, view: View, out: Path, fps: float, speech: _Speech) -> None:
    count = round((speech.duration_us + _LEAD_IN_US + _LEAD_OUT_US) * fps / 1e6)
    pcm = np.zeros((2, round(count * FILM_HZ / fps)), np.int16)
    start = _LEAD_IN_US * FILM_HZ // 1_000_000
    pcm[:, start : start + len(speech.pcm)] = speech.pcm
    times = [round(n * 1e6 / fps) for n in range(count)]
    states = ((motion, view) for motion in _motions(stage, view, times, speech))
    with open_video(out, view.width * stage.eyes_across, view.height, fps, pcm, FILM_HZ) as video:
        for picture in track(
            stage.draw_all(states), "filming", total=count, console=Console(stderr=True), transient=True
        ):
            video.add(picture)


def _check_alone(conversation: Path, others: Mapping[str, object]) -> None:
    for option, value in others.items():
        if value not in (None, "", []):
            raise InvalidInputError("--conversation", str(conversation), f"no {option} beside it")


def _check_sheet(count: int, out: Path, at: float | None, speech: str | Path | None) -> None:
    if not 2 <= count <= MOST:
        raise InvalidInputError("--sheet", count, f"2 to {MOST} moments")
    if out.suffix.lower() != ".png":
        raise InvalidInputError("--out", str(out), "a name that ends in .png with --sheet")
    if at is not None:
        raise InvalidInputError("--at", at, "no --sheet beside it")
    if not speech:
        raise InvalidInputError("--sheet", count, "a --text, a --wav or a --conversation to make a sheet of")


def _sheet(stage: Stage, view: View, fps: float, speech: _Speech, count: int) -> NDArray[np.uint8]:
    """Moments of the speech at even distances, from its beginning to its end."""
    step = round(1e6 / fps)
    times = list(range(0, _LEAD_IN_US + speech.duration_us + step, step))
    spoken = [n for n, time_us in enumerate(times) if time_us >= _LEAD_IN_US]
    chosen = [spoken[round(k * (len(spoken) - 1) / (count - 1))] for k in range(count)]
    motions = _motions(stage, view, times, speech)
    drawn = track(
        stage.draw_all((motions[n], view) for n in chosen),
        "drawing", total=count, console=Console(stderr=True), transient=True,
    )  # fmt: skip
    return compose(
        [
            draw_caption(picture, None, f"{(times[n] - _LEAD_IN_US) / 1e6:.2f} s")
            for n, picture in zip(chosen, drawn, strict=True)
        ]
    )


def _picture(
    stage: Stage, view: View, fps: float, speech: _Speech | None, at: float | None, face: NDArray[np.float32]
) -> NDArray[np.uint8]:
    if speech is None:
        # Open-eyed and still, so that only what was asked for shows.
        return stage.draw(Idle(Skeleton.of(stage.scene)).sample(0, Activity.IDLE, view.position, face), view)
    length_s = speech.duration_us / 1e6
    if at is None:
        at = length_s / 2
    if not 0.0 <= at <= length_s:
        raise InvalidInputError("--at", at, f"seconds from 0 to {length_s:.2f}, the length of the speech")
    until = round(at * 1e6) + _LEAD_IN_US
    times = [*range(0, until, round(1e6 / fps)), until]
    *_, last = _motions(stage, view, times, speech)
    return stage.draw(last, view)


def _motions(stage: Stage, view: View, times: list[int], speech: _Speech) -> list[Motion]:
    """Motions at film times in microseconds."""
    skeleton = Skeleton.of(stage.scene)
    idle, face, retarget = Idle(skeleton, seed=1), Face(), Retarget(skeleton)
    face.add("speech", 0, speech.track.times_us, speech.track.weights)
    motions: list[Motion] = []
    for time_us in times:
        media_us = time_us - _LEAD_IN_US
        speaking = 0 <= media_us < speech.duration_us
        weights = face.sample(time_us, media_us if speaking else None)
        activity = Activity.SPEAKING if speaking else Activity.IDLE
        body = speech.body(media_us, retarget)
        motions.append(idle.sample(time_us, activity, view.position, weights, body))
    return motions
