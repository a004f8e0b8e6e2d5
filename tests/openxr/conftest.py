"""Lets the tests here import monado.py, scenes.py and their like beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
