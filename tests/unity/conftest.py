"""Lets the tests here import csharp.py and its like beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
