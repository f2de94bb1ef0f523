"""Standard input and output of a program in the jail, as pipes whose other ends this process holds.

What goes in has an end and cannot be sought in; what comes out is kept up to a bound, and the program is
killed that goes past it. Nothing waits for a program that reads nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

__all__ = ["Streams"]

#: Bytes that a pipe holds, where the system lets it, so that a program seldom waits for its other end.
_HELD = _CHUNK = 1 << 20
_SET_PIPE_SIZE = 1031
#: Seconds that what was written before the end of a program may take to be read.
_GRACE = 5.0


class Streams:
    """Two pipes, and the thread that fills the one and empties the other.

    Args:
        given: What the program reads.
        most: Bytes of what it prints that are kept.

    Attributes:
        theirs: Ends that the program gets: its standard input, its standard output.
        exceeded: Whether it printed more than is kept.
    """

    def __init__(self, given: bytes, most: int) -> None:
        self._given = memoryview(given)
        self._most = most
        self._printed = bytearray()
        self.exceeded = False
        stdin, self._feeding = os.pipe()
        self._draining, stdout = os.pipe()
        self.theirs: tuple[int, ...] = (stdin, stdout)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread: threading.Thread | None = None
        os.set_blocking(self._feeding, False)
        for fd in (self._feeding, self._draining):
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, _SET_PIPE_SIZE, _HELD)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is None:
            self._let_go()
        else:
            os.eventfd_write(self._wake, 1)
            self._thread.join()
        for fd in (self._feeding, self._draining, self._wake):
            if fd >= 0:
                os.close(fd)

    def start(self, stop: Callable[[], None]) -> None:
        """Begin, once the program has its ends.

        Args:
            stop: Called when it has printed more than is kept.
        """
        self._let_go()
        self._thread = threading.Thread(target=self._run, args=(stop,), name="jail-streams", daemon=True)
        self._thread.start()

    def printed(self) -> bytes:
        """All that a program printed that has ended, up to the bound."""
        if self._thread is not None:
            self._thread.join(_GRACE)
        return bytes(self._printed)

    def _let_go(self) -> None:
        """Close the program's ends here, so that each pipe ends with the program."""
        for fd in self.theirs:
            os.close(fd)
        self.theirs = ()

    def _run(self, stop: Callable[[], None]) -> None:
        poller = select.poll()
        poller.register(self._draining, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        if self._given:
            poller.register(self._feeding, select.POLLOUT)
        else:
            self._fed(None)
        while True:
            ready = {fd for fd, _event in poller.poll()}
            if self._feeding in ready and not self._feed():
                self._fed(poller)
            if self._draining in ready and not self._drain():
                if self.exceeded:
                    stop()
                return
            if self._wake in ready:
                return

    def _feed(self) -> bool:
        """Whether there is more to be read, and somebody who may."""
        with contextlib.suppress(BlockingIOError):
            try:
                self._given = self._given[os.write(self._feeding, self._given[:_CHUNK]) :]
            except BrokenPipeError:
                return False
        return bool(self._given)

    def _fed(self, poller: select.poll | None) -> None:
        """End what is read."""
        if poller is not None:
            poller.unregister(self._feeding)
        os.close(self._feeding)
        self._feeding = -1

    def _drain(self) -> bool:
        """Whether more may come."""
        part = os.read(self._draining, _CHUNK)
        room = self._most - len(self._printed)
        self._printed += part[:room]
        self.exceeded = len(part) > room
        return bool(part) and not self.exceeded
