"""Another OpenXR app: fills what it shows with green, and says how many frames it has shown.

python other_app.py

Ends with its input.
"""

import sys
import threading
import time

import numpy as np

from taoxr_runtime.render import SplatRenderer
from taoxr_runtime.xr.binding import open_binding
from taoxr_runtime.xr.link import Pictures
from taoxr_runtime.xr.runtime import Runtime, extensions
from taoxr_runtime.xr.session import Session
from taoxr_runtime.xr.swapchain import EyeImages

GREEN = (40, 200, 60)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    binding = open_binding("egl", extensions())
    with (
        SplatRenderer("tiles") as renderer,
        Runtime(binding.extensions) as runtime,
        Session(runtime, binding) as session,
    ):
        sizes = Pictures(size=(64, 64)).sizes(runtime.sizes)
        images = EyeImages(session, "srgb8", sizes, 1)
        picture = np.full((64, 64, 3), GREEN, np.uint8)
        shown, leaving = 0, False
        while not session.over:
            session.poll()
            if ended.is_set() and not leaving:
                leaving = True
                session.request_exit()
            if not session.running:
                time.sleep(0.01)
                continue
            frame = session.begin()
            eyes = session.eyes(frame) if frame.visible else []
            if eyes:
                with images.targets(sizes) as targets:
                    for target in targets:
                        renderer.paint(picture, target)
                frame.layers.append(session.projection_layer(eyes, images.parts(sizes)))
                shown += 1
            session.end(frame)
            if shown % 10 == 0:
                say(f"shown {shown} {session.state}")
        images.close()
    binding.close()


if __name__ == "__main__":
    main()
