"""A program on a real pseudo-terminal, timed from key to frame."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterable

__all__ = ["SIZE", "Terminal", "first_frame", "keys", "p95"]

SIZE = (45, 160)
#: A frame is over when nothing more is written for so long; then comes the next key.
QUIET_S = 0.016
#: Seconds between two of a key that is held, as keyboards have it.
REPEAT_S = 0.033


class Terminal:
    """A program on a pseudo-terminal.

    Args:
        argv: Path of the program, and its arguments.
        size: Rows and columns.
    """

    def __init__(self, *argv: str, size: tuple[int, int] = SIZE) -> None:
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            with tempfile.TemporaryDirectory() as state:
                env = os.environ | {
                    "TERM": "xterm-256color",
                    "COLORTERM": "truecolor",
                    "XDG_STATE_HOME": state,
                }
                os.execve(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def read(self, timeout_s: float) -> bytes:
        """What the program wrote within a time."""
        if not select.select([self.fd], [], [], timeout_s)[0]:
            return b""
        try:
            return os.read(self.fd, 1 << 16)
        except OSError:
            return b""

    def until(self, pattern: bytes, since: float) -> float:
        """Seconds from a moment until a text is written."""
        seen = b""
        while not re.search(pattern, seen):
            seen += self.read(1.0)
            if time.perf_counter() - since > 30:
                raise SystemExit(f"never seen: {pattern!r}")
        return time.perf_counter() - since

    def first(self, pattern: bytes) -> float:
        """Seconds from start until a text is on the screen."""
        return self.until(pattern, self.started)

    def calm(self, seconds: float) -> None:
        """Wait until nothing is written for a while."""
        quiet = time.perf_counter()
        while time.perf_counter() - quiet < seconds:
            if self.read(0.05):
                quiet = time.perf_counter()

    def key(self, key: bytes) -> float:
        """Seconds from a key to the last byte of the frame that answers it."""
        begun = time.perf_counter()
        os.write(self.fd, key)
        last = begun
        while True:
            data = self.read(1.0 if last == begun else QUIET_S)
            if not data:
                return last - begun
            last = time.perf_counter()

    def hold(self, key: bytes, times: int) -> None:
        """Hold a key: it is repeated by the clock, whether or not a frame has answered it."""
        for _ in range(times):
            os.write(self.fd, key)
            end = time.perf_counter() + REPEAT_S
            while (left := end - time.perf_counter()) > 0:
                self.read(left)

    def answer(self, key: bytes, pattern: bytes) -> float:
        """Seconds from a key until a text is written."""
        begun = time.perf_counter()
        os.write(self.fd, key)
        return self.until(pattern, begun)

    def resident(self) -> int:
        """Bytes of memory that the program has now, without those of its children."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def rest(self, share: float = 0.1) -> None:
        """Wait until the program computes no more, beside the frames that a cursor blinks in.

        Args:
            share: Of a processor that it may still use.
        """
        busy = 1.0
        while busy > share:
            begun, before = time.perf_counter(), self._computed()
            self.calm(0.3)
            busy = (self._computed() - before) / (time.perf_counter() - begun)

    def _computed(self) -> float:
        """Processor seconds that the program has used, without those of its children."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            user, system = stat.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def first_frame(*argv: str) -> float:
    """Seconds to the first frame of a Python program."""
    terminal = Terminal(sys.executable, *argv)
    try:
        return terminal.first(b"FIRST-FRAME")
    finally:
        terminal.close()


def keys(
    argv: Iterable[str], sent: Iterable[bytes], *, before: bytes = b"j", shows: bytes = b""
) -> list[float]:
    """Milliseconds from key to frame, per key, once all is calm.

    Args:
        argv: Path of the program, and its arguments.
        sent: The keys.
        before: A key that is not counted.
        shows: What is on the screen once it has started.
    """
    terminal = Terminal(*argv)
    try:
        terminal.first(shows or b"FIRST-FRAME")
        # until colours, stored verdicts and the engine's sentence are on the screen
        terminal.calm(1.5)
        terminal.key(before)
        # until a message about it has gone
        terminal.calm(2.5)
        return [terminal.key(key) * 1000 for key in sent]
    finally:
        terminal.close()


def p95(values: list[float]) -> float:
    """The value that 5 % lie above."""
    return statistics.quantiles(values, n=20)[-1]
