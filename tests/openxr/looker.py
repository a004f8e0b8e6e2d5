"""A client that shows a still scene and saves the pictures of a frame whenever it is told to.

    python looker.py SCENE WIDTHxHEIGHT BINDING FORMAT LAYERS

Reads lines of JSON: {"head": [x, y, z, qx, qy, qz, qw], "save": FILE}. It then waits until the headset is
there and saves the frame as .npz. Says "ready", "saved", "talk" and "quiet". Ends with its input.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time

import numpy as np
from scenes import SCENES

from taoxr_runtime.render import SplatRenderer
from taoxr_runtime.xr import poses
from taoxr_runtime.xr.binding import open_binding
from taoxr_runtime.xr.captions import Words
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


def there(session: Session, frame, head: list[float]) -> bool:
    eyes = session.eyes(frame)
    if not eyes:
        return False
    wanted = poses.Pose(tuple(head[3:]), tuple(head[:3])).matrix
    return bool(np.abs(poses.head(eyes) - wanted).max() < 1e-4)


def save(path: str, shot: Shot, link: Link) -> None:
    np.savez(
        path,
        pictures=np.array(shot.pictures),
        model=shot.model.matrix,
        eyes=[eye.pose.matrix for eye in shot.eyes],
        angles=[eye.angles for eye in shot.eyes],
        state=link.session.state,
        space=link.session.space,
    )


def main() -> None:
    scene, size, binding_name, format, layers = sys.argv[1:]
    splats = SCENES[scene]()
    width, height = (int(n) for n in size.split("x"))
    orders: queue.Queue[dict | None] = queue.Queue()
    threading.Thread(target=read, args=(orders,), daemon=True).start()
    binding = open_binding(binding_name, extensions())
    order: dict | None = {}
    pressed = False
    pictures = Pictures(format, int(layers), size=(width, height))
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
            frame = session.begin()
            if link.talk() != pressed:
                pressed = not pressed
                say("talk" if pressed else "quiet")
            camera = link.look(frame) if frame.visible else None
            shot = None
            if camera is not None:
                capture = bool(order) and there(session, frame, order["head"])
                shot = link.draw(frame, renderer, splats, None, Words(), capture)
            session.end(frame)
            if not ready and session.state == "FOCUSED" and camera is not None:
                ready = True
                say("ready")
            if shot is not None:
                save(order["save"], shot, link)
                order = {}
                say("saved")
    binding.close()


main()
