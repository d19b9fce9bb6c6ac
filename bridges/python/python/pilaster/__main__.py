"""``python -m pilaster`` is the tool ``pilaster``."""

import os
import signal
import sys

from ._pilaster import _tool


def main() -> int:
    """Runs the command that the arguments are. Returns its exit status."""
    # A closed stream must not become the number of a file that is opened.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Python would notice Ctrl-C only after the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _tool(["pilaster", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
