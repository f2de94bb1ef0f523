"""The two jails of a test as the engine sees them: their sockets, whose turn it is, and whose time runs."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator

from judge_tui.checks.calling.connection import Connection
from judge_tui.checks.calling.own_time import Processor
from judge_tui.checks.worker.border.incoming import Incoming
from judge_tui.checks.worker.border.messages import Message, framed

__all__ = ["Line", "Side", "pair"]

#: Seconds that a jail may leave a message lie.
_SLOWEST = 20.0
#: Seconds of processor time that a process should have left for another test.
_LEAST = 120.0


class Line:
    """One socket, and what was read of it.

    Args:
        control: The socket.
        ahead: What was read already.
    """

    def __init__(self, control: socket.socket, ahead: bytes = b"") -> None:
        control.setblocking(False)
        self.control = control
        self._incoming = Incoming(control, ahead)

    def fileno(self) -> int:
        """For a poller; -1 where it is closed."""
        return self.control.fileno()

    def send(self, message: Message) -> None:
        """Send a message, to one that may be gone.

        Raises:
            TimeoutError: It is not taken.
        """
        data = memoryview(framed(message))
        deadline = time.monotonic() + _SLOWEST
        while data:
            try:
                data = data[self.control.send(data) :]
            except BlockingIOError:
                self._wait(deadline)
            except OSError:
                # Nobody is there: that is noticed where something is read.
                return

    def _wait(self, deadline: float) -> None:
        """Wait until more is taken."""
        poller = select.poll()
        poller.register(self.control.fileno(), select.POLLOUT)
        left = deadline - time.monotonic()
        if left <= 0 or not poller.poll(left * 1000):
            raise TimeoutError("it takes nothing in")

    def read(self) -> Iterator[Message]:
        """Messages that have come; some bytes of one have to be there.

        Raises:
            EOFError: The other side closed.
            ValueError: What came is no message.
        """
        try:
            self._incoming.more()
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            raise EOFError("the other side is gone") from error
        while (message := self._incoming.next()) is not None:
            yield message


class Side:
    """A jail that answers for a border.

    Args:
        connection: Its process.
        beside: The socket beside the control socket.
    """

    def __init__(self, connection: Connection, beside: socket.socket) -> None:
        control, ahead, processor = connection.taken_over()
        self.connection = connection
        self.processor: Processor = processor
        self.main, self.beside = Line(control, ahead), Line(beside)

    @property
    def lines(self) -> tuple[Line, Line]:
        """Both sockets."""
        return self.main, self.beside

    @property
    def alive(self) -> bool:
        """Whether the process still runs and is heard."""
        return self.main.fileno() >= 0 and self.connection.alive

    @property
    def tired(self) -> bool:
        """Whether the process is near its limit of processor time."""
        return self.connection.processor_left < _LEAST

    def send(self, thread: int, message: Message) -> None:
        """Send a message to a thread."""
        (self.beside if thread else self.main).send(message)

    def close(self) -> None:
        """End it."""
        self.connection.close()
        self.beside.control.close()


def pair() -> tuple[socket.socket, socket.socket]:
    """A socket for the engine and one for a jail."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
