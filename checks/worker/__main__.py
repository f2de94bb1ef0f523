"""Entry of the sandboxed process: confine, measure, then serve requests until the socket closes."""

from __future__ import annotations

import functools
import gc
import os
import socket
import sys
from pathlib import Path
from typing import Any

__all__ = ["main"]


def main(fd: int, submission: str, adapter: str = "-", limits: dict[str, Any] | None = None) -> None:
    """Serve one submission.

    Args:
        fd: The control socket.
        submission: Folder of the submission as seen in here.
        adapter: Path of an ``adapter.py``, or ``-``.
        limits: Resource limits for :func:`.confine.apply`.
    """
    from . import confine, probe

    # Nothing that is made here goes away: neither now nor later does a collection look at it.
    gc.disable()
    confined = confine.apply(limits or {})
    facts = probe.run()

    # NumPy comes after the confinement, so that no thread of its escapes that.
    from . import wire

    control = socket.socket(fileno=fd)
    os.set_inheritable(fd, False)
    sys.setrecursionlimit(3000)
    # What holds is told first: whoever asks for that alone need not wait for NumPy.
    wire.send(control, {"op": "hello", "facts": facts, "confined": confined})
    from .session import Session

    module = (limits or {}).get("arrays", "numpy")
    refused = frozenset((limits or {}).get("refused", ()))
    session = Session(Path(submission), Path(adapter) if adapter != "-" else None, module, refused)
    session.ask = functools.partial(_asked, control)
    gc.freeze()
    gc.enable()
    wire.send(control, {"op": "ready"})
    while True:
        try:
            request, fds = wire.receive(control, with_fds=True)
        except (EOFError, OSError):
            return
        reply = session.handle(request, fds)
        try:
            wire.send(control, reply, most=wire.MAX_REPLY)
        except ValueError as error:
            wire.send(control, {"bad": str(error)})
        except OSError:
            return
        if session.border is not None:
            session.border.serve(control)
            return


def _asked(control: socket.socket, data: bytes) -> dict[str, Any]:
    """Ask the engine in the middle of a request; its answer."""
    from . import wire

    wire.send(control, {"ask": data}, most=wire.MAX_REPLY)
    answer, fds = wire.receive(control, with_fds=True)
    for fd in fds:
        os.close(fd)
    if not isinstance(answer, dict):
        raise EOFError("no answer came")
    return answer
