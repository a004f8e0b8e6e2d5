"""``python -m taoxr_bridge``: the same as ``taoxr serve``."""

from taoxr_bridge.cli import main

if __name__ == "__main__":
    main()
