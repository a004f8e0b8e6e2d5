"""The process of one check: ``python -m taoxr.doctor.probe NAME LIMIT_S``; one JSON entry per line."""

import dataclasses
import faulthandler
import json
import os
import sys
from importlib.metadata import entry_points

from taoxr.doctor.entry import GROUP, Entry


def main() -> None:
    """Runs one check; what it raises goes to stderr as a traceback and makes the exit status 1."""
    name, limit_s = sys.argv[1], float(sys.argv[2])
    faulthandler.enable()  # a crash in a driver leaves its Python stack on stderr
    # For the day when the parent was killed and cannot end this process at its limit.
    faulthandler.dump_traceback_later(limit_s + 1, exit=True)
    # Engines and drivers print to file descriptor 1 as they like: it becomes stderr, the entries keep a copy.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as results:
        os.dup2(2, 1)
        (point,) = entry_points(group=GROUP, name=name)
        for entry in point.load()():
            if not isinstance(entry, Entry):
                raise TypeError(f"check {name} gave {entry!r}, expected a taoxr.doctor.Entry")
            results.write(json.dumps(dataclasses.asdict(entry)) + "\n")
            results.flush()
        results.flush()
    # Some libraries crash when Python tears them down; the findings are out already.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
