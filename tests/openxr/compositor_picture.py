"""Makes docs/images/xr_compositor.png: the avatar in conversation, as Monado's compositor shows it.

python compositor_picture.py OUT.png
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from monado import Monado, Placed
from output import Output
from PIL import Image
from viewing import turn

COMMAND = (sys.executable, Path(__file__).with_name("talker.py"), "avatar", "", "Why do people like music?")
FAR, NEAR = (0.0, 1.6, 0.0), (0.0, 1.58, -0.72)

with Monado(picture=True) as monado:
    state = monado.remote.state
    state.head = Placed(turn("x", -6), FAR)
    monado.remote.send()
    app = Output(monado.start(COMMAND))
    app.wait_for("first frame", 90)
    state.head = Placed(turn("x", -10), NEAR)  # a step closer, now that the avatar has its place
    monado.remote.send()
    app.wait_for(r"avatar=.(\w+ ){5}", 90)
    time.sleep(3)  # until the caption is painted and shown: about one frame a second without a GPU
    app.process.send_signal(signal.SIGSTOP)  # the compositor goes on showing the last frame
    Image.fromarray(np.concatenate(monado.screenshot(), axis=1)).save(sys.argv[1])
    app.process.send_signal(signal.SIGCONT)
    app.process.send_signal(signal.SIGINT)
    try:
        app.process.wait(60)
    except subprocess.TimeoutExpired:
        app.process.kill()
