"""Where the threads of a process stand, for whoever ends it because nothing goes on."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

__all__ = ["stacks"]

_MOST_THREADS, _MOST_FRAMES = 16, 12


def stacks(root: Path) -> dict[str, Any]:
    """Stacks of the threads that are in files of a folder.

    Args:
        root: The folder.

    Returns:
        ``text``, and ``file`` and ``line`` of the innermost frame, the main thread's first.
    """
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    lines: list[str] = []
    place: tuple[str | None, int | None] = None, None
    frames = sorted(sys._current_frames().items(), key=lambda item: item[0] != threading.main_thread().ident)
    for ident, frame in frames[:_MOST_THREADS]:
        own = [each for each in traceback.extract_stack(frame) if Path(each.filename).is_relative_to(root)]
        if not own:
            continue
        if place == (None, None):
            place = os.path.relpath(own[-1].filename, root), own[-1].lineno
        lines.append(f"{names.get(ident, 'a thread')}:")
        lines += (
            f"  {os.path.relpath(each.filename, root)}:{each.lineno} in {each.name}: {each.line}"
            for each in own[-_MOST_FRAMES:]
        )
    text = "\n".join(lines).encode("utf-8", "replace").decode()
    return {"text": text[-20_000:], "file": place[0], "line": place[1]}
