"""Data that lies beside a script, laid where the script looks for it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["data_beside"]

#: Files: how many, and the bytes of each, at most.
_MOST_FILES, _MOST_EACH = 64, 4 << 20
_CODE = (".py", ".pyc", ".pyi", ".so", ".cu", ".cuh")


def data_beside(folder: Path) -> None:
    """Lay the data that a folder holds into the present one: a script opens it by its bare name.

    Args:
        folder: Where a script stands. Code, links and hidden files are left out, and what is there already.
    """
    with os.scandir(folder) as entries:
        named = [one for one in entries if not one.name.startswith(".") and not one.name.endswith(_CODE)]
    for entry in named[:_MOST_FILES]:
        if entry.is_file(follow_symlinks=False) and entry.stat().st_size <= _MOST_EACH:
            # where nothing can be written there is no data beside the script
            with contextlib.suppress(OSError), open(entry.path, "rb") as data, open(entry.name, "xb") as laid:
                laid.write(data.read())
