"""The end from outside: a signal, or a terminal that is gone.

What ends the program saves first, kills the engine and leaves the terminal as it was, as ``q`` does.
"""

from __future__ import annotations

import errno
import os
import signal
import termios
from collections.abc import Callable
from types import FrameType

from judge_tui.tui.textual_private.writer import write_on

__all__ = ["Ending"]


class Ending:
    """Ends an app in order on SIGTERM and SIGHUP.

    Args:
        end: Ends it; called with the exit code, in a signal's handler.
    """

    def __init__(self, end: Callable[[int], object]) -> None:
        self._end = end
        #: Exit code that says which signal it was; None without one.
        self.code: int | None = None

    def heed(self) -> None:
        """Take the signals from now on."""
        write_on()
        for number in (signal.SIGTERM, signal.SIGHUP):
            # what is started with nohup goes on without its terminal
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._take)

    def _take(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave_terminal()
        if self.code is None:
            self.code = 128 + number
            self._end(self.code)


def _leave_terminal() -> None:
    """Read from nowhere, and write to nowhere, where the terminal is gone."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        if _is_gone(stream):
            os.dup2(nowhere, stream)
    os.close(nowhere)


def _is_gone(stream: int) -> bool:
    try:
        termios.tcgetattr(stream)
    except termios.error as error:
        # a pipe or a file answers that it is none
        return bool(error.args[0] != errno.ENOTTY)
    return False
