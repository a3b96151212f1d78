"""The command ``backsweep``, also as ``python -m backsweep``."""

from __future__ import annotations

import signal
import sys

from ._backsweep import command


def main() -> int:
    """Run the command line and return the exit code."""
    # The command handles Ctrl-C itself; Python's own handler would wait for it to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["backsweep", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
