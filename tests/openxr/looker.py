"""A client that shows a still scene and saves the pictures of a frame whenever it is told to.

    python looker.py SCENE WIDTHxHEIGHT BINDING FORMAT LAYERS

Reads lines of JSON: {"head": POSE, "grips": [POSE or null, POSE or null], "scale": S, "state": STATE or
null, "at": SECONDS, "save": FILE}, a pose being [x, y, z, qx, qy, qz, qw]. It takes the state for the
session's if there is one, and the seconds for the time of the buttons; waits until the headset is there and
the hands that are given hold the avatar there; and saves the frame, drawn at that scale, as .npz. Says
"ready", "saved", the session's state, and what the user does. Ends with its input.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time

import numpy as np
from scenes import SCENES, ball_mesh

from taoxr_runtime.render import SplatRenderer
from taoxr_runtime.xr import poses
from taoxr_runtime.xr.binding import open_binding
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Controls, Wishes
from taoxr_runtime.xr.link import Link, Pictures, Shot
from taoxr_runtime.xr.runtime import extensions
from taoxr_runtime.xr.session import Session


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def read(orders: queue.Queue[dict | None]) -> None:
    for line in sys.stdin:
        orders.put(json.loads(line))
    orders.put(None)


def near(found: np.ndarray, wanted: list[float]) -> bool:
    pose = poses.Pose(tuple(wanted[3:]), tuple(wanted[:3])).matrix
    return bool(np.abs(found - pose).max() < 1e-4)


def there(session: Session, frame, order: dict, wishes: Wishes) -> bool:
    eyes = session.eyes(frame)
    if not eyes or not near(poses.head(eyes), order["head"]):
        return False
    return all(
        (grip is None) == (wanted is None) and (grip is None or near(grip.matrix, wanted))
        for grip, wanted in zip(wishes.grips, order["grips"], strict=True)
    )


def tell(before: Wishes, now: Wishes) -> None:
    """Say what is new."""
    if now.talk != before.talk:
        say("talk" if now.talk else "quiet")
    for side, grip in zip(("left", "right"), zip(before.grips, now.grips, strict=True), strict=True):
        if (grip[0] is None) != (grip[1] is None):
            say(f"{side} lets go" if grip[1] is None else f"{side} grabs")
    if now.captions != before.captions:
        say(f"captions {now.captions}")
    if now.muted != before.muted:
        say(f"muted {now.muted}")
    if now.reset:
        say("reset")


def save(path: str, shot: Shot, link: Link) -> None:
    np.savez(
        path,
        pictures=np.array(shot.pictures),
        distances=np.array(shot.distances_m),
        model=shot.model.matrix,
        eyes=[eye.pose.matrix for eye in shot.eyes],
        angles=[eye.angles for eye in shot.eyes],
        state=link.session.state,
        space=link.session.space,
    )


def main() -> None:
    scene, size, binding_name, format, layers = sys.argv[1:]
    splats, mesh = SCENES[scene](), ball_mesh() if scene == "ball" else None
    width, height = (int(n) for n in size.split("x"))
    orders: queue.Queue[dict | None] = queue.Queue()
    threading.Thread(target=read, args=(orders,), daemon=True).start()
    binding = open_binding(binding_name, extensions())
    order: dict | None = {}
    controls, before, state, at = Controls(), Wishes(), "", 0.0
    pictures = Pictures(format, None if layers == "auto" else int(layers), size=(width, height))
    with SplatRenderer() as renderer, Link(binding, pictures, 1.6) as link:
        session = link.session
        leaving = False
        ready = False
        while not session.over:
            session.poll()
            if not session.running:
                time.sleep(0.01)
                continue
            if not order and not orders.empty():
                order = orders.get()
                if order is None and not leaving:
                    leaving = True
                    session.request_exit()
            if order:
                at = order["at"]
                session.state = order["state"] or session.state
            frame = session.begin()
            wishes = controls.update(link.hands(frame), at)
            for side, grabbed in enumerate(wishes.grabbed):
                if grabbed:
                    link.pulse(side)
            if order:
                link.resize(order["scale"])
            camera = link.look(frame, wishes) if frame.visible else None
            if session.state != state:
                state = session.state
                say(f"state {state} drawn {camera is not None}")
            shot = None
            if camera is not None:
                capture = bool(order) and there(session, frame, order, wishes)
                shot = link.draw(frame, renderer, splats, None, Words(), capture, mesh)
            session.end(frame)
            tell(before, wishes)  # when all of the frame is settled
            before = wishes
            if not ready and session.state == "FOCUSED" and camera is not None:
                ready = True
                say("ready")
            if shot is not None:
                save(order["save"], shot, link)
                order = {}
                say("saved")
    binding.close()


main()
