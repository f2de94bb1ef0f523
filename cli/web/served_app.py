"""One app behind one page: a process of its own, fed with keys, its screen handed on, ended with the page.

The packets are textual-serve's. Its own process goes through a shell, is left behind when the page goes away
while the screen is being written, and prints what an app says last as it is: here it does not.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from aiohttp import ClientError
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from judge_tui.judging.plain import plain

__all__ = ["ServedApp"]

#: Seconds that an app has to save and end by itself, and then to follow a signal.
_GRACE_S, _SIGNAL_S = 10.0, 3.0
#: Seconds between looks at whether it has ended.
_LOOK_S = 0.02
#: What is kept of the last words of an app, in bytes.
_LAST_WORDS = 8192
#: Cells that a page may ask for; a browser window has a few hundred.
_MOST_CELLS = 1000
_START = b"__GANGLION__\n"


class ServedApp(AppService):
    """An app in a process of its own.

    Args:
        command: How it is started.
        environment: What it is started with.
        draw: Hands bytes for the terminal on to the page.
        tell: Hands a message on to the page.
        downloads: What the app offers to be downloaded.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        draw: Callable[[bytes], Awaitable[None]],
        tell: Callable[[str], Awaitable[None]],
        downloads: DownloadManager,
    ) -> None:
        super().__init__(
            shlex.join(command),
            write_bytes=partial(self._hand, draw),
            write_str=partial(self._hand, tell),
            close=_nothing,
            download_manager=downloads,
        )
        self._argv, self._given = tuple(command), dict(environment)
        self._downloads = downloads
        self._app: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._handing: asyncio.Future[None] | None = None
        #: What it said on standard error, made harmless.
        self.last_words = ""

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """The way to the app."""
        assert self._app is not None
        assert self._app.stdin is not None
        return self._app.stdin

    async def start(self, width: int, height: int) -> None:
        """Start the app on a screen of so many cells.

        Raises:
            OSError: It cannot be started.
        """
        size = {"COLUMNS": str(_cells(width)), "ROWS": str(_cells(height))}
        pipe = asyncio.subprocess.PIPE
        # a session of its own: Ctrl-C in the server's terminal is the server's to hear
        self._app = await asyncio.create_subprocess_exec(
            *self._argv, stdin=pipe, stdout=pipe, stderr=pipe, env=self._given | size, start_new_session=True
        )

    async def run(self) -> None:
        """Hand the screen on until the app has ended."""
        assert self._app is not None
        assert self._app.stdout is not None
        assert self._app.stderr is not None
        _, words = await asyncio.gather(self._relay(self._app.stdout), _last_words(self._app.stderr))
        await self._app.wait()
        self.last_words = "\n".join(plain(line) for line in words.splitlines()).strip()
        await self._downloads.cancel_app_downloads(self.app_service_id)

    async def _relay(self, screen: asyncio.StreamReader) -> None:
        takers = {b"D": self.on_data, b"M": self.on_meta, b"P": self.on_packed}
        with suppress(asyncio.IncompleteReadError):
            if await screen.readexactly(len(_START)) == _START:
                while True:
                    head = await screen.readexactly(5)
                    payload = await screen.readexactly(int.from_bytes(head[1:], "big"))
                    if (taker := takers.get(head[:1])) is not None:
                        await taker(payload)
        # what no app draws is read all the same: a full pipe would keep the process from ending
        while await screen.read(65536):
            pass

    async def _hand(self, told: Callable[[Any], Awaitable[None]], what: Any) -> None:
        """Hand something on to the page; what is told to one that has gone is lost, and no fault."""
        if self._stopping:
            return
        self._handing = asyncio.ensure_future(told(what))
        # given up by stop(): a page that takes nothing any more must not keep the screen from being read
        await asyncio.wait([self._handing])
        if not self._handing.cancelled() and (fault := self._handing.exception()) is not None:
            self._stopping = isinstance(fault, ConnectionError | ClientError)
            if not self._stopping:
                raise fault

    async def take(self, message: str) -> str | None:
        """Hand on what the page says; what is to be answered, if anything.

        Args:
            message: A list in JSON: what it is, and what belongs to it. Anything else is passed over.
        """
        with suppress(ValueError, TypeError, KeyError, IndexError):
            kind, *rest = json.loads(message)
            if kind == "stdin" and isinstance(rest[0], str):
                await self.send_bytes(rest[0].encode("utf-8", "replace"))
            elif kind == "resize":
                await self.set_terminal_size(_cells(rest[0]["width"]), _cells(rest[0]["height"]))
            elif kind == "ping":
                return json.dumps(["pong", str(rest[0])])
            elif kind == "focus":
                await self.focus()
            elif kind == "blur":
                await self.blur()
        return None

    async def stop(self) -> None:
        """Let the app save and end; end it when it does not."""
        app = self._app
        self._stopping = True
        if self._handing is not None:
            self._handing.cancel()
        if app is None or app.returncode is not None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await self.send_meta({"type": "quit"})
                self.stdin.close()
                await _exited(app)
        with suppress(TimeoutError):
            async with asyncio.timeout(_SIGNAL_S):
                self._signal(signal.SIGTERM)
                await _exited(app)
        self._signal(signal.SIGKILL)
        await _exited(app)

    def _signal(self, number: signal.Signals) -> None:
        if self._app is not None and self._app.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._app.pid, number)


async def _nothing() -> None:
    """The page is closed once the app has said its last words, not at once."""


async def _last_words(stream: asyncio.StreamReader) -> str:
    words = b""
    while said := await stream.read(4096):
        words = (words + said)[-_LAST_WORDS:]
    return words.decode("utf-8", "replace")


def _cells(asked: object) -> int:
    """A width or height that a page asks for, within reason."""
    return min(max(int(str(asked)), 1), _MOST_CELLS)


async def _exited(app: asyncio.subprocess.Process) -> None:
    """Wait for the process alone: asyncio's own ``wait`` may last until all that it wrote has been read."""
    while app.returncode is None:
        await asyncio.sleep(_LOOK_S)
