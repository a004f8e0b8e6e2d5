"""`taoxr` with a runtime that does not always see a headset: Monado's simulated one is never unplugged.

python headless.py ANSWERS ARGUMENT...

ANSWERS says for each time that the headset is asked for whether it is there, "y" or "n"; afterwards it is as
the last one says.
"""

import sys
from typing import Any

from taoxr.cli import main
from taoxr_runtime.xr import api

answers = list(sys.argv.pop(1))
xr = api.xr()
real = xr.get_system


def get_system(*arguments: Any) -> Any:
    answer = answers.pop(0) if len(answers) > 1 else answers[0]
    if answer == "n":
        raise xr.FormFactorUnavailableError
    return real(*arguments)


xr.get_system = get_system
main()
