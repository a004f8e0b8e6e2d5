"""A few tools that every program can use; `taoxr talk --tools` offers them."""

import sys
import threading
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field


def get_time() -> str:
    """Tells the current time of day."""
    return f"It is {datetime.now():%H:%M}."


def get_date() -> str:
    """Tells today's date and day of the week."""
    now = datetime.now()
    return f"Today is {now:%A}, {now:%B} {now.day}, {now.year}."


def set_timer(minutes: Annotated[float, Field(gt=0, le=1440)]) -> str:
    """Starts a timer that rings after some minutes."""
    end = datetime.now() + timedelta(minutes=minutes)
    timer = threading.Timer(minutes * 60, _ring, (f"{minutes:g}",))
    timer.daemon = True  # it does not keep a program alive that has nothing else to do
    timer.start()
    return f"The timer rings at {end:%H:%M}."


def _ring(minutes: str) -> None:
    sys.stderr.write(f"\a\nTimer: {minutes} minutes are over.\n")
    sys.stderr.flush()
