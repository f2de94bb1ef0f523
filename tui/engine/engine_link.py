"""The engine as a child process of the screen: started, listened to, cancelled, never waited for."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import IO

import msgspec

from judge_tui.checks.events import Done, Event, Failed, decode
from judge_tui.checks.niceness import be_nice
from judge_tui.checks.own_process import python
from judge_tui.checks.request import Request
from judge_tui.tui.look.glyphs import neutral

__all__ = ["ENGINE", "EngineProcess", "EngineRun"]

#: How the engine is started; a task that it is to load at once may follow.
ENGINE = python("-m", "judge_tui.checks.engine")
_LONGEST_LINE = 64 * 1024 * 1024
_GRACE_S = 3.0
_POLL_S = 0.02
#: How far the engine and its workers stand back for the screen where all processors are busy. What checks say
#: of time hangs on the time that a submission itself has used.
_NICER, _NICEST = 15, 19


class EngineProcess:
    """The engine, started: it loads what it needs and waits for its request.

    Args:
        command: How it is started.

    Raises:
        OSError: It cannot be.
    """

    def __init__(self, command: Sequence[str] = ENGINE) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
        )
        with suppress(OSError, AttributeError):
            nice = os.getpriority(os.PRIO_PROCESS, 0)
            be_nice(self._process.pid, min(nice + _NICER, _NICEST))
        self._transports: list[asyncio.ReadTransport] = []

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ask(self, request: Request) -> None:
        """Hand over the request; an engine that has ended shows by what it says."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")

    async def streams(self) -> tuple[asyncio.StreamReader, asyncio.StreamReader]:
        """What it says, and its log."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return await self._reader(self._process.stdout), await self._reader(self._process.stderr)

    async def _reader(self, pipe: IO[bytes]) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=_LONGEST_LINE)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
        self._transports.append(transport)
        return reader

    async def wait(self) -> int:
        """Its exit status."""
        while (code := self._process.poll()) is None:
            await asyncio.sleep(_POLL_S)
        return code

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill it and what it started, at once; may be called again."""
        # the group outlives its leader: kill it even when the engine itself has ended
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._leave_streams()

    def _leave_streams(self) -> None:
        for transport in self._transports:
            # an event loop that has ended closes nothing any more
            with suppress(RuntimeError):
                transport.close()
        if not self._transports:
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()


class EngineRun:
    """One run of the engine.

    Args:
        request: What it is asked.
        command: How it is started.
        ahead: One that was started ahead of time, in place of a new one.
    """

    def __init__(
        self, request: Request, command: Sequence[str] = ENGINE, ahead: EngineProcess | None = None
    ) -> None:
        self._request = request
        self._command = tuple(command)
        self._process = ahead
        self.cancelled = False

    async def events(self) -> AsyncIterator[Event]:
        """Start the engine and hear it out; always ends with ``Done`` or ``Failed`` unless cancelled."""
        try:
            process = self._process = self._process or EngineProcess(self._command)
        except OSError as error:
            yield Failed(f"The check engine cannot be started: {error.strerror}.")
            return
        said, errors = await process.streams()
        log = asyncio.create_task(_last_line(errors))
        ended = False
        try:
            process.ask(self._request)
            async for event in _lines(said):
                ended = ended or isinstance(event, Done | Failed)
                yield event
            # what it still says nobody hears: it would wait for that for ever
            if not said.at_eof():
                return
            code = await process.wait()
            told = await log
            if not ended and not self.cancelled:
                yield Failed(f"The check engine ended unexpectedly ({_ending(code)}).", told)
        finally:
            log.cancel()
            self.kill()

    async def cancel(self) -> None:
        """Ask the engine to stop, and kill it when it does not."""
        self.cancelled = True
        process = self._process
        if process is None or process.ended:
            return
        process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_S)
        self.kill()

    def kill(self) -> None:
        """Kill the engine and what it started, at once."""
        if self._process is not None:
            self._process.kill()


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[Event]:
    while True:
        try:
            line = await stream.readline()
        except ValueError:
            yield Failed("The check engine sent a line that is too long.")
            return
        if not line:
            return
        try:
            yield decode(line)
        except msgspec.MsgspecError:
            yield Failed("The check engine sent something that is no event.", neutral(repr(line[:80])))
            return


async def _last_line(stream: asyncio.StreamReader) -> str:
    last = b""
    while chunk := await stream.read(65536):
        last = (last + chunk)[-2000:]
    lines = [line for line in last.decode(errors="replace").splitlines() if line.strip()]
    return neutral(lines[-1])[:200] if lines else ""


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"
