"""Tells when files of the submissions change on disk: one thread, stopped before the program ends."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["FileWatch", "is_source"]

#: Milliseconds between two looks, and for which changes are gathered: an editor saves in several steps.
_STEP_MS = 100
_GATHER_MS = 600
_STOP_S = 2.0


class FileWatch:
    """Watches folders until it is stopped; both callbacks come in the event loop and context that made it.

    Args:
        folders: What is watched, with all that is below.
        tell: Called with the files that have changed.
        failed: Called with the reason when nothing can be watched (any more).
    """

    def __init__(
        self,
        folders: Sequence[Path],
        tell: Callable[[frozenset[Path]], None],
        failed: Callable[[str], None],
    ) -> None:
        self._folders, self._tell, self._failed = folders, tell, failed
        self._loop = asyncio.get_running_loop()
        # a timer that a callback sets finds its app there, and never fires without it
        self._context = contextvars.copy_context()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="file watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread: it must not outlive the interpreter, its waiting is done in Rust."""
        self._stopped.set()
        self._thread.join(_STOP_S)

    def _work(self) -> None:
        # imported here: 70 ms that the first frame does not wait for
        try:
            from watchfiles import watch

            changes = watch(
                *self._folders,
                watch_filter=None,
                debounce=_GATHER_MS,
                step=_STEP_MS,
                stop_event=self._stopped,
                raise_interrupt=False,
                ignore_permission_denied=True,
            )
            for found in changes:
                self._hand_over(self._tell, frozenset(Path(path) for _, path in found))
        except (ImportError, OSError, RuntimeError) as error:
            if not self._stopped.is_set():
                self._hand_over(self._failed, str(error).split("\n")[0])

    def _hand_over(self, call: Callable[..., None], what: object) -> None:
        # the loop is closed when the app has ended
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, what, context=self._context)


def is_source(folder: Path, path: Path) -> bool:
    """Whether a changed file below a submission's folder may change what is judged."""
    try:
        parts = path.relative_to(folder).parts
    except ValueError:
        return False
    hidden = any(part.startswith(".") or part in ("__pycache__", "node_modules") for part in parts)
    return bool(parts) and not hidden and not path.name.endswith((".pyc", ".pyo", "~", ".swp", ".tmp"))
