"""A jail's two sockets to the engine: one for its main thread, one for all others and what is asked beside.

Whoever waits on the main socket reads it itself, so that a call of a test with one thread wakes nobody up for
nothing. A thread of its own reads the other one and hands messages to the threads that they are for.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Callable

from ..capture import sendable
from .incoming import Incoming
from .messages import MOST_THREADS, Ask, Control, Message, Refusal, framed

__all__ = ["Channel", "EndedError"]

#: The number of the main thread's counterpart.
MAIN = 0
_MOST_SAID = 2_000


class EndedError(BaseException):
    """The other side is no more; no code of a test or a submission is meant to catch it."""


class Channel:
    """The sockets, and the numbers of this side's threads.

    Args:
        main: The main thread's socket.
        beside: The other one.
        first: What this side's threads are numbered from, by twos: 2 for the author's, 1 for the other.
        serve: Called with a message that begins something on a thread of the other side.
        control: Called with what the engine asks beside.
    """

    def __init__(
        self,
        main: socket.socket,
        beside: socket.socket,
        first: int,
        serve: Callable[[Ask], None],
        control: Callable[[Control], Message],
    ) -> None:
        self._main, self._beside = main, beside
        self._incoming = Incoming(main)
        self._sending = threading.Lock()
        self._serve, self._control = serve, control
        self._free = list(range(first + 2 * (MOST_THREADS - 1), 0, -2))
        self._here = threading.local()
        self._inboxes: dict[int, queue.SimpleQueue[Message]] = {}
        self._main_thread = threading.main_thread().ident

    def listen(self) -> None:
        """Begin to hear what the other side's threads say; whoever serves them is there by now."""
        threading.Thread(target=self._dispatch, name="border", daemon=True).start()

    @property
    def number(self) -> int:
        """This thread's number; one of its own as soon as it asks for it."""
        if threading.get_ident() == self._main_thread:
            return MAIN
        lent: _Lent | None = getattr(self._here, "lent", None)
        if lent is None:
            try:
                number = self._free.pop()
            except IndexError:
                raise RuntimeError(f"more than {MOST_THREADS} threads call at once") from None
            self._inboxes[number] = queue.SimpleQueue()
            lent = self._here.lent = _Lent(number, self._free)
        return lent.number

    def send(self, message: Message) -> None:
        """Send what this thread has to say."""
        data = framed(message)
        if threading.get_ident() == self._main_thread:
            self._main.sendall(data)
        else:
            with self._sending:
                self._beside.sendall(data)

    def receive(self) -> Message:
        """What is said to this thread next.

        Raises:
            EOFError: The engine is gone.
        """
        if threading.get_ident() == self._main_thread:
            return self._incoming.wait()
        return self._inboxes[self.number].get()

    def _dispatch(self) -> None:
        incoming = Incoming(self._beside)
        while True:
            try:
                self._pass(incoming.wait())
            except (EOFError, OSError):
                return
            except BaseException as error:
                self._broke(MAIN, error)
                return

    def _pass(self, message: Message) -> None:
        """Hand what came beside to the thread that it is for."""
        if isinstance(message, Control):
            with self._sending:
                self._beside.sendall(framed(self._control(message)))
            return
        number: int = getattr(message, "thread", MAIN)
        if number not in self._inboxes:
            self._inboxes[number] = queue.SimpleQueue()
            threading.Thread(target=self._counterpart, args=(number,), daemon=True).start()
        self._inboxes[number].put(message)

    def _counterpart(self, number: int) -> None:
        """The thread that answers for one of the other side's."""
        self._here.lent = _Lent(number, None)
        while True:
            message = self._inboxes[number].get()
            try:
                if isinstance(message, Ask):
                    self._serve(message)
            except EndedError:
                # the engine knows: it said so, or was told with what was forged
                continue
            except OSError:
                return
            except BaseException as error:
                self._broke(number, error)

    def _broke(self, number: int, error: BaseException) -> None:
        """Tell the engine that a thread has no answer: nobody else would, and the other side waits for it."""
        clause = f"what no thread could serve: {type(error).__name__}: {error}"[:_MOST_SAID]
        with contextlib.suppress(OSError), self._sending:
            self._beside.sendall(framed(Refusal(number, sendable(clause))))


class _Lent:
    """A thread's number, free again once the thread has ended."""

    def __init__(self, number: int, free: list[int] | None) -> None:
        self.number = number
        self._free = free

    def __del__(self) -> None:
        if self._free is not None:
            self._free.append(self.number)
