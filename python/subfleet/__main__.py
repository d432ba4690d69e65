"""The program: `python -m subfleet train ...` is `subfleet train ...`."""

import os
import sys
from pathlib import Path

__all__ = ["main"]


def main() -> None:
    program = Path(__file__).resolve().parent / "bin" / "subfleet"
    os.execv(program, ["subfleet", *sys.argv[1:]])


if __name__ == "__main__":
    main()
