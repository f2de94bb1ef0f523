"""Processes of ours that run Python: none of them takes a module from the folder that it is started in.

``python -m`` and ``python -c`` put that folder first on the search path. It may be a workspace that somebody
cloned, and what lies in one never runs as the judge.
"""

from __future__ import annotations

import sys

__all__ = ["python"]


def python(*arguments: str) -> tuple[str, ...]:
    """The command line of this interpreter, safe to run in any folder.

    Args:
        arguments: What Python is told: ``-m`` and a module, or ``-c`` and a program.
    """
    # -I would leave out PYTHONPATH and the user's site too, where NumPy or CuPy may be installed
    return (sys.executable, "-P", *arguments)
