"""The command line: one module per command, imported when it is called."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``judge-tui`` with the arguments of this process, and end it with the exit code."""
    from judge_tui.cli.run import run

    sys.exit(run(sys.argv[1:]))
