"""``python -m pilaster`` is the tool ``pilaster``, if it is installed."""

import os
import shutil
import sys


def main() -> int:
    """Runs the tool that is found on PATH; this package has its functions, but not its command line."""
    own = os.path.realpath(sys.argv[0])
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("pilaster", path=folder)
        if found and os.path.realpath(found) != own and not _is_script(found):
            command = [found, *sys.argv[1:]]
            if os.name == "posix":
                os.execv(found, command)
            import subprocess

            return subprocess.call(command)
    print("pilaster: the tool is not installed; `cargo install pilaster-cli` does it", file=sys.stderr)
    return 2


def _is_script(path: str) -> bool:
    """Whether a program is a script, such as the one that this package installs."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


if __name__ == "__main__":
    sys.exit(main())
