"""The engine as a process: one request in, one event per line out.

``python -P -m judge_tui.checks.engine [TASK]`` reads one JSON object
(:class:`~judge_tui.checks.request.Request`) from the first line of standard input and writes events
(:mod:`~judge_tui.checks.events`) to standard output. End of input or SIGTERM cancels it and kills its
workers. What it needs, and the task where one is named, it loads before it reads, so that whoever
starts it ahead of time need not wait for that.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import traceback
from typing import BinaryIO

import msgspec

from judge_tui.checks.errors import EngineError, JudgeError
from judge_tui.checks.events import Event, Failed, encode
from judge_tui.checks.request import Request
from judge_tui.checks.typed import from_json

__all__ = ["main"]


def main(source: BinaryIO | None = None, sink: BinaryIO | None = None, task: str = "") -> int:
    """Serve one request.

    Args:
        source: Where the request comes from; standard input by default.
        sink: Where events go; standard output by default.
        task: Loaded before the request is read.

    Returns:
        0 when every check got its outcome, the error's exit code otherwise, 130 when cancelled.
    """
    source, sink = source or sys.stdin.buffer, sink or sys.stdout.buffer
    cancel = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: cancel.set())

    def tell(event: Event) -> None:
        sink.write(encode(event))
        sink.flush()

    _load(task)
    try:
        request = from_json(source.readline(), Request)
    except msgspec.MsgspecError as error:
        tell(Failed(f"the request is malformed: {error}"))
        return 2
    threading.Thread(target=_cancel_at_end, args=(source, cancel), daemon=True).start()
    threading.Thread(target=_measure, daemon=True).start()
    try:
        from judge_tui.checks.runner import run

        for event in run(request, cancel=cancel):
            tell(event)
    except JudgeError as error:
        tell(Failed(error.message, error.hint))
        return error.exit_code
    except BrokenPipeError:
        return 130
    except Exception as error:
        traceback.print_exc()
        tell(Failed(f"the engine broke: {type(error).__name__}: {error}", "Its log has the traceback."))
        return EngineError.exit_code
    return 130 if cancel.is_set() else 0


def _load(task: str) -> None:
    """Import what every request needs, and a task; what is wrong with that is told when it is asked for."""
    gc.disable()  # nothing that is made here goes away
    with contextlib.suppress(Exception):
        from judge_tui.checks import runner
        from judge_tui.checks.task import load_task

        if runner and task:
            load_task(task)
    gc.freeze()
    gc.enable()


def _measure() -> None:
    """Measure the sandbox beside what has to be read first; what is wrong with it is told by the run."""
    with contextlib.suppress(Exception):
        from judge_tui.checks.sandbox import measure

        measure()


def _cancel_at_end(source: BinaryIO, cancel: threading.Event) -> None:
    while source.read(4096):
        pass
    cancel.set()


if __name__ == "__main__":
    code = main(task=sys.argv[1] if len(sys.argv) > 1 else "")
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    # Threads that still wait for a killed worker must not hold the exit up.
    os._exit(code)
