"""The engine as a child process of the screen: started, listened to, cancelled, never waited for."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import msgspec
from judge_tui.checks.events import Done, Event, Failed, decode
from judge_tui.checks.request import Request
from judge_tui.tui.glyphs import neutral

__all__ = ["ENGINE", "EngineRun"]

#: How the engine is started.
ENGINE: tuple[str, ...] = (sys.executable, "-m", "judge_tui.checks.engine")
_LONGEST_LINE = 64 * 1024 * 1024
_GRACE_S = 3.0


class EngineRun:
    """One run of the engine.

    Args:
        request: What it is asked.
        command: How it is started.
    """

    def __init__(self, request: Request, command: Sequence[str] = ENGINE) -> None:
        self._request = request
        self._command = tuple(command)
        self._process: asyncio.subprocess.Process | None = None
        self.cancelled = False

    async def events(self) -> AsyncIterator[Event]:
        """Start the engine and hear it out; always ends with ``Done`` or ``Failed`` unless cancelled."""
        try:
            process = self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        except OSError as error:
            yield Failed(f"The check engine cannot be started: {error.strerror}.")
            return
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        log = asyncio.create_task(_last_line(process.stderr))
        ended = False
        try:
            with suppress(ConnectionError):
                process.stdin.write(msgspec.json.encode(self._request) + b"\n")
                await process.stdin.drain()
            async for event in _lines(process.stdout):
                ended = ended or isinstance(event, Done | Failed)
                yield event
            code = await process.wait()
            said = await log
            if not ended and not self.cancelled:
                yield Failed(f"The check engine ended unexpectedly ({_ending(code)}).", said)
        finally:
            log.cancel()
            self.kill()

    async def cancel(self) -> None:
        """Ask the engine to stop, and kill it when it does not."""
        self.cancelled = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_S)
        self.kill()

    def kill(self) -> None:
        """Kill the engine and what it started, at once."""
        process = self._process
        if process is not None:
            # the group outlives its leader: kill it even when the engine itself has ended
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


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
