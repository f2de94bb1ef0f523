"""The web server behind ``judge-tui serve``: the page, the websocket that an app is shown through, the end.

The terminal in the page is textual-serve's, and nothing of the page comes from another place.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import textual_serve
from aiohttp import ClientError, WSMsgType, web
from textual_serve.download_manager import DownloadManager

from judge_tui.cli.web.address import Address
from judge_tui.cli.web.admission import Admission
from judge_tui.cli.web.served_app import ServedApp
from judge_tui.judging.wording import counted

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler, Middleware

__all__ = ["serve"]

_PAGE = Path(str(files("judge_tui.cli.web"))) / "page"
_TERMINAL = Path(textual_serve.__file__).parent / "static"
#: Seconds between two looks whether the browser is still there, and to wait for it to say farewell.
_HEARTBEAT_S, _FAREWELL_S = 15.0, 2.0
#: What a page that is reloaded waits for the app of before.
_PATIENCE_S = 5.0
#: The terminal sets styles of its own; everything else comes from the server, and no page embeds it.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def serve(
    command: Sequence[str],
    environment: Mapping[str, str],
    address: Address,
    admission: Admission,
    *,
    pages: int,
    banner: str,
    ready: Callable[[], None],
    told: Callable[[str], None],
) -> None:
    """Serve until the process is interrupted or terminated.

    Args:
        command: How an app is started, one per page.
        environment: What it is started with.
        address: Where to listen.
        admission: Who is let in.
        pages: How many may be open at a time.
        banner: What the page says above the app.
        ready: Called once the server answers.
        told: Called with what an app has said at its end.
    """
    server = _Server(command, environment, admission, pages, banner, told)
    asyncio.run(server.until_interrupted(address, ready))


class _Server:
    """The routes, and the apps behind the pages that are open."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        admission: Admission,
        pages: int,
        banner: str,
        told: Callable[[str], None],
    ) -> None:
        self._banner = banner
        self._command, self._environment = command, environment
        self._admission, self._told = admission, told
        self._pages = pages
        self._starting = 0
        self._downloads = DownloadManager()
        self._open: dict[ServedApp, Callable[[], Awaitable[None]]] = {}
        self._left: set[ServedApp] = set()
        self._gone = asyncio.Event()

    async def until_interrupted(self, address: Address, ready: Callable[[], None]) -> None:
        """Answer at an address, and end all apps at the end."""
        if not os.environ.get("JUDGE_TUI_DEBUG"):
            # what a port scanner sends is of no interest to the judge
            for library in ("aiohttp", "textual-serve"):
                logging.getLogger(library).addHandler(logging.NullHandler())
        runner = web.AppRunner(self._routes(), access_log=None, shutdown_timeout=_FAREWELL_S)
        await runner.setup()
        try:
            for each in address.sockets:
                await web.SockSite(runner, each).start()
            interrupted = asyncio.Event()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, interrupted.set)
            ready()
            await interrupted.wait()
            # a second Ctrl-C does not wait for anybody
            loop.remove_signal_handler(signal.SIGINT)
        finally:
            await runner.cleanup()

    def _routes(self) -> web.Application:
        app = web.Application(middlewares=[self._guarded()])
        app.add_routes(
            [
                web.get("/", self._page),
                web.get("/ws", self._stream),
                web.get("/download/{key}", self._download),
                web.static("/page", _PAGE),
                web.static("/terminal", _TERMINAL),
            ]
        )
        app.on_response_prepare.append(_sealed)
        app.on_shutdown.append(self._end)
        return app

    def _guarded(self) -> Middleware:
        admission = self._admission

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.path == "/" and admission.opens(request.query.get("token")):
                # out of the address: it would stay in the browser's history
                answer: web.StreamResponse = web.Response(status=303, headers={"Location": "/"})
                answer.set_cookie(admission.cookie, admission.pass_, httponly=True, samesite="Lax")
            elif refused := admission.refusal(host=request.host, pass_=request.cookies.get(admission.cookie)):
                answer = web.Response(status=403, text=f"judge-tui: {refused}\n")
            else:
                answer = await handler(request)
            return answer

        return guard

    async def _page(self, _: web.Request) -> web.StreamResponse:
        page = (_PAGE / "index.html").read_text("utf-8").replace("{banner}", escape(self._banner))
        return web.Response(text=page, content_type="text/html", headers={"Cache-Control": "no-store"})

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        refused = self._admission.stream_refusal(host=request.host, origin=request.headers.get("Origin"))
        if refused:
            return web.Response(status=403, text=f"judge-tui: {refused}\n")
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, timeout=_FAREWELL_S)
        await socket.prepare(request)
        if not await self._has_room():
            await socket.send_bytes(
                f"judge-tui: {counted(self._pages, 'page')} at a time, and no more. "
                "Close one, or start judge-tui serve with --pages.\r\n".encode()
            )
            await socket.close()
            return socket
        app = ServedApp(
            self._command,
            self._environment,
            draw=socket.send_bytes,
            tell=socket.send_str,
            downloads=self._downloads,
        )
        self._starting += 1
        try:
            await app.start(_number(request, "width", 80), _number(request, "height", 24))
        except OSError as error:
            self._told(f"The app cannot be started: {error.strerror}.")
            return socket
        finally:
            self._starting -= 1
        self._open[app] = partial(_hang_up, socket, request.transport)
        try:
            await self._shown(app, socket)
        finally:
            del self._open[app]
            self._left.discard(app)
            self._gone.set()
        return socket

    async def _has_room(self) -> bool:
        """Whether one more page may be open; a reload comes while its app still saves."""
        end = asyncio.get_running_loop().time() + _PATIENCE_S
        while (full := len(self._open) + self._starting >= self._pages) and self._left:
            self._gone.clear()
            try:
                async with asyncio.timeout_at(end):
                    await self._gone.wait()
            except TimeoutError:
                break
        return not full

    async def _shown(self, app: ServedApp, socket: web.WebSocketResponse) -> None:
        """Show an app until it or the page is closed."""
        shown = asyncio.create_task(self._screen(app, socket))
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT and (answer := await app.take(message.data)):
                    await socket.send_str(answer)
        except (ConnectionError, ClientError):
            pass
        finally:
            self._left.add(app)
            await self._open[app]()
            await app.stop()
            await shown

    async def _screen(self, app: ServedApp, socket: web.WebSocketResponse) -> None:
        await app.run()
        self._left.add(app)
        if app.last_words:
            self._told(app.last_words)
        words = app.last_words.replace("\n", "\r\n")
        with suppress(ConnectionError, ClientError):
            if words:
                await socket.send_bytes(f"\x1b[?1049l\x1b[2J\x1b[H{words}\r\n".encode())
            await socket.close()

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """What an app hands out as a file, such as a picture of its screen."""
        key = request.match_info["key"]
        try:
            offered = await self._downloads.get_download_metadata(key)
        except KeyError:
            raise web.HTTPNotFound from None
        name = quote(offered.file_name)
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        answer = web.StreamResponse(headers=headers)
        answer.content_type = offered.mime_type or "application/octet-stream"
        await answer.prepare(request)
        async for chunk in self._downloads.download(key):
            await answer.write(chunk)
        return answer

    async def _end(self, _: web.Application) -> None:
        """Close every page; what is behind it saves and ends meanwhile."""
        ends = [end for app, hang_up in self._open.items() for end in (hang_up(), app.stop())]
        await asyncio.gather(*ends)


async def _hang_up(socket: web.WebSocketResponse, transport: asyncio.Transport | None) -> None:
    """Close a websocket; a browser that takes nothing any more would hold up its app, and the end of it."""
    closing = asyncio.ensure_future(socket.close())
    # no timeout around it: who waits for the browser to take something shares one future with all others, and
    # an app that is stopped gives its own waiting up
    await asyncio.wait({closing}, timeout=_FAREWELL_S)
    if transport is not None:
        transport.abort()
    await asyncio.wait({closing}, timeout=_FAREWELL_S)
    if closing.done() and not closing.cancelled() and (fault := closing.exception()) is not None:
        if not isinstance(fault, ConnectionError | ClientError):
            raise fault


async def _sealed(_: web.Request, answer: web.StreamResponse) -> None:
    answer.headers.update(_HEADERS)


def _number(request: web.Request, name: str, default: int) -> int:
    try:
        return int(request.query.get(name, default))
    except ValueError:
        return default
