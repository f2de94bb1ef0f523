"""A running jail: the process that holds a submission, its output, its end.

The output is drained always and kept up to a bound, so that a flood fills neither
memory nor disk and never blocks the submission.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from judge_tui.checks.sandbox.scratch import Scratch

__all__ = ["KEPT_BYTES", "Jail"]

#: Output that is kept: this much of its beginning, and as much of its end.
KEPT_BYTES = 128 << 10

_CHUNK = 64 << 10
_GRACE = 2.0
_WATCH_MS = 50


class Jail:
    """A confined process.

    Args:
        process: What was started: bubblewrap, or the worker itself.
        output: Read end of the pipe that its output goes to; owned from here on.
        inner_pid: The worker's pid as this process sees it; ``process``'s own without bubblewrap.
        cpu_seconds: Its limit of processor time.
        folder: A folder of this machine that it may write to, removed with it.
        scratch: What is watched of what it may write to.
        memory_bytes: Resident memory of all its processes past which it is killed; for programs whose address
            space cannot be bounded. ``None`` for no such watch.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        output: int,
        inner_pid: int,
        *,
        cpu_seconds: int,
        folder: TemporaryDirectory[str] | None = None,
        scratch: Scratch | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        self.pid = process.pid
        self.inner_pid = inner_pid
        self._process = process
        self._folder = folder
        self._scratch = scratch
        self._memory_bytes = memory_bytes
        self._cpu_seconds = cpu_seconds
        self._usage: resource.struct_rusage | None = None
        self._status: int | None = None
        self._reason = ""
        self._out_of_memory_before = _oom_kills()
        self._lock = threading.RLock()
        self._inner = _pidfd(inner_pid) if inner_pid != process.pid else None
        self._drain = _Drain(output, self._watch if scratch or memory_bytes else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def poll(self) -> int | None:
        """Exit status, ``-n`` for signal n; ``None`` while it runs."""
        with self._lock:
            if self._status is None:
                self._reap()
            return self._status

    def wait(self, seconds: float) -> bool:
        """Whether it ends by itself within so many seconds of wall clock."""
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True

    def kill(self) -> None:
        """Kill everything inside, wait for its end, and clean up. May be called again."""
        with self._lock:
            if self.poll() is None:
                self._reason = self._reason or "was stopped"
                self._signal()
            if self._inner is not None:
                os.close(self._inner)
                self._inner = None
        self._drain.stop()
        if self._scratch is not None:
            self._scratch.close()
        if self._folder is not None:
            _remove(self._folder)
            self._folder = None

    def stop(self, reason: str) -> None:
        """Kill it for a reason, which :meth:`ended` tells then.

        Args:
            reason: A clause.
        """
        with self._lock:
            if self.poll() is None:
                self._reason = reason
                self._signal()

    def output(self) -> str:
        """What it wrote to stdout and stderr so far; the middle of a flood is left out."""
        if self.poll() is not None:
            self._drain.settle()
        return self._drain.text()

    def ended(self) -> str:
        """How it ended, as a clause: ``exited with status 3``."""
        status = self.poll()
        if status is None:
            return "is still running"
        if self._reason:
            return self._reason
        if status >= 0:
            last = self.output().rstrip().rpartition("\n")[2]
            return "ran out of memory" if status and "MemoryError" in last else f"exited with status {status}"
        if -status in (signal.SIGKILL, signal.SIGXCPU):
            if self._usage and self._usage.ru_utime + self._usage.ru_stime > self._cpu_seconds - 0.5:
                return f"used up its {self._cpu_seconds} s of processor time"
            if _oom_kills() > self._out_of_memory_before:
                return "was killed because the machine ran out of memory"
        return f"was killed by signal {-status} ({_signal_name(-status)})"

    def _reap(self) -> None:
        self._take_along()
        try:
            pid, raw, usage = os.wait4(self.pid, os.WNOHANG)
        except ChildProcessError:
            self._status = self._process.returncode = -signal.SIGKILL
            return
        if pid == 0:
            return
        code = os.waitstatus_to_exitcode(raw)
        # bubblewrap tells of a signal as a shell does.
        self._status = 128 - code if self.inner_pid != self.pid and code > 128 else code
        self._usage = usage
        self._process.returncode = code

    def _take_along(self) -> None:
        """Once it has ended, kill what it left behind: its group goes by its number, free after this."""
        with contextlib.suppress(OSError):
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                os.killpg(self.pid, signal.SIGKILL)

    def _signal(self) -> None:
        """SIGKILL the namespace's first process, which takes all others along, then what is around it."""
        if self._inner is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._inner, signal.SIGKILL)
            # bubblewrap ends by itself once it has reaped its child; killed first, it would leave it behind.
            self._wait(_GRACE)
        if self._status is None:
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    kill(self.pid, signal.SIGKILL)
            self._wait(_GRACE)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        pause, ending, ended = 0.0005, _pidfd(self.pid), select.poll()
        if ending is not None:
            ended.register(ending, select.POLLIN)
        while self._status is None and time.monotonic() < deadline:
            self._reap()
            if self._status is None:
                # Where the kernel tells of its end, that is not waited past.
                ended.poll(pause * 1000)
                pause = min(pause * 2, 0.02)
        if ending is not None:
            os.close(ending)

    def _watch(self) -> None:
        """Kill what fills its scratch folder, or this machine's memory."""
        if self._scratch is not None and (excess := self._scratch.excess()):
            self.stop(excess)
        if self._memory_bytes is not None and _resident(self.inner_pid) > self._memory_bytes:
            self.stop(f"used more than {self._memory_bytes >> 20} MiB of memory")


class _Drain:
    """Reads a pipe to its end in a thread of its own; keeps the beginning and the end of what came.

    Args:
        pipe: The read end; closed by the thread.
        watch: Called now and then meanwhile.
    """

    def __init__(self, pipe: int, watch: Callable[[], None] | None) -> None:
        self._pipe = pipe
        self._watch = watch
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="jail-output", daemon=True)
        self._thread.start()

    def settle(self) -> None:
        """Wait until what an ended process wrote has been read."""
        self._thread.join(_GRACE)

    def stop(self) -> None:
        """End the thread, whoever still holds the pipe."""
        if self._stopped:
            return
        self._stopped = True
        self._thread.join(_GRACE / 10)
        os.eventfd_write(self._wake, 1)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        os.close(self._wake)

    def text(self) -> str:
        """What is kept, as text."""
        middle = f"\n… {self._left_out} bytes left out …\n".encode() if self._left_out else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", errors="replace")

    def _run(self) -> None:
        poller = select.poll()
        poller.register(self._pipe, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        watched = time.monotonic()
        try:
            while True:
                ready = {fd for fd, _event in poller.poll(_WATCH_MS if self._watch else None)}
                if self._watch and time.monotonic() - watched > _WATCH_MS / 1000:
                    self._watch()
                    watched = time.monotonic()
                if self._pipe in ready:
                    if not (data := os.read(self._pipe, _CHUNK)):
                        return
                    self._keep(data)
                if self._wake in ready:
                    return
        finally:
            os.close(self._pipe)

    def _keep(self, data: bytes) -> None:
        room = KEPT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if (extra := len(self._tail) - KEPT_BYTES) > 0:
            del self._tail[:extra]
            self._left_out += extra


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _resident(pid: int) -> int:
    """Bytes of resident memory of a process and those that it started."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as told:
            total = int(told.read().split()[1]) * resource.getpagesize()
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as told:
            return total + sum(_resident(int(child)) for child in told.read().split())
    except (OSError, ValueError, IndexError):
        return 0


def _remove(folder: TemporaryDirectory[str]) -> None:
    """Remove a tree whose folders may have been made unreadable or absurdly deep."""
    with contextlib.suppress(OSError, RecursionError):
        folder.cleanup()


def _oom_kills() -> int:
    with contextlib.suppress(OSError, ValueError), open("/proc/vmstat", encoding="ascii") as lines:
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
    return 0


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
