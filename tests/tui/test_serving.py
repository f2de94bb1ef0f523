"""The server of ``judge-tui serve``, spoken to without a browser: who gets in, and how everything ends."""

from __future__ import annotations

import asyncio
import fcntl
import json
import re
import signal
import socket
import termios
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace

from .conftest import HANGING, make_workspace
from .served import PATIENCE_S, Served, running, until

aiohttp = pytest.importorskip("aiohttp", reason="the extra 'serve' is not installed")
pytest.importorskip("textual_serve", reason="the extra 'serve' is not installed")
pytestmark = pytest.mark.xdist_group("serving")

TOKEN = "not to be guessed"
COMPARED = ("compare", "alpha", "beta", "--task", "kv")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_workspace(tmp_path_factory.mktemp("served") / "ws")


@pytest.fixture(scope="module")
def here(workspace: Workspace) -> Iterator[Served]:
    """A server for this machine; its engine hangs until it is killed."""
    server = Served(workspace.root, HANGING, *COMPARED)
    yield server
    server.close()


class Page:
    """A page's end of the websocket."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.stream = b""

    async def send(self, *message: Any) -> None:
        await self._socket.send_str(json.dumps(message))

    async def see(self, text: str) -> None:
        """Take in what comes until a text stands in it."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.seen():
            assert time.monotonic() < end, (text, self.seen()[-2000:])
            message = await self._socket.receive(PATIENCE_S)
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), (
                text,
                self.seen()[-2000:],
            )
            self.stream += message.data if isinstance(message.data, bytes) else b""

    async def end(self) -> str:
        """Take in what comes until the server closes."""
        while (message := await self._socket.receive(PATIENCE_S)).type is aiohttp.WSMsgType.BINARY:
            self.stream += message.data
        assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED), message
        return self.seen()

    def seen(self) -> str:
        return re.sub(r"\x1b\[[0-9;?$]*[A-Za-z]", "", self.stream.decode("utf-8", "replace"))


@asynccontextmanager
async def opened(server: Served, width: int = 120, **headers: str) -> AsyncIterator[Page]:
    """The app behind a server, as its own page opens it."""
    async with opened_at(f"http://127.0.0.1:{server.port}", width, **headers) as page:
        yield page


@asynccontextmanager
async def opened_at(url: str, width: int = 120, **headers: str) -> AsyncIterator[Page]:
    """The app behind an address."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{url}/ws?width={width}&height=35", headers={"Origin": url, **headers}) as socket,
    ):
        yield Page(socket)


async def status(server: Served, path: str, **headers: str) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(
            f"http://127.0.0.1:{server.port}{path}", headers=headers, allow_redirects=False
        ) as answer,
    ):
        await answer.read()
        return answer.status, answer


UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


async def test_no_other_page_opens_an_app_and_none_embeds_the_page(here: Served) -> None:
    own = f"127.0.0.1:{here.port}"
    code, page = await status(here, "/")
    assert code == 200
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"
    # a name that leads to this machine, of whoever made it lead there
    for path in ("/", "/page/page.css", "/terminal/js/textual.js", "/ws"):
        assert (await status(here, path, Host="evil.example"))[0] == 403
    rebound = {"Host": "evil.example:80", "Origin": "http://evil.example"}
    for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, rebound):
        assert (await status(here, "/ws", **UPGRADE, **headers))[0] == 403
    assert not here.family()
    assert (await status(here, "/ws", **UPGRADE, Origin=f"http://{own}"))[0] == 101
    until(lambda: not here.family())


async def test_closing_a_page_saves_and_ends_its_app_and_the_engine(
    here: Served, workspace: Workspace
) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    async with opened(here) as page:
        await page.see("accuracy")
        assert len(here.family()) > 1
        # nonsense is passed over, and a size without reason is cut to one
        for nonsense in ((), ("stdin",), ("stdin", None), ("resize", {"width": "x"}), ("what", 1)):
            await page.send(*nonsense)
        await page.send("resize", {"width": 10**9, "height": -3})
        await page.send("resize", {"width": 120, "height": 35})
        await page.send("stdin", "s")
        await page.see("Whether decoding")
        await page.send("stdin", "8")
        await page.send("stdin", "7")
    until(lambda: not here.family())
    assert load_scorecard(path).score("correctness") == 87


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_nobody_writes_through_a_page_that_is_read_only(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "ws")
    before = _files(tmp_path)
    server = Served(workspace.root, HANGING, "--read-only", *COMPARED)
    try:
        async with opened(server) as page:
            await page.see("read only")
            # no engine was started
            assert len(server.family()) == 1
            for keys in ("s", "8", "5", "\x1b", "a", "M", "A", "\x1b", "e", "mx", "c", "R", "r", "e", "\x1b"):
                await page.send("stdin", keys)
            await page.see("for looking only")
            assert len(server.family()) == 1
        until(lambda: not server.family())
        assert server.end() == (0, "")
    finally:
        server.close()
    assert _files(tmp_path) == before


async def test_an_app_that_cannot_open_says_why_on_its_page(here: Served, workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "beta", "anna")
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_bytes() if path.exists() else None
    path.write_text("score = [")
    try:
        async with opened(here) as page:
            said = await page.end()
    finally:
        path.unlink() if before is None else path.write_bytes(before)
    assert "beta/anna.toml" in said
    assert "Traceback" not in said
    until(lambda: not here.family())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
async def test_however_the_server_ends_its_apps_save_and_end(tmp_path: Path, number: signal.Signals) -> None:
    workspace = make_workspace(tmp_path / "ws")
    server = Served(workspace.root, HANGING, *COMPARED)
    try:
        async with opened(server) as page:
            await page.see("accuracy")
            await page.send("stdin", "s")
            await page.see("Whether decoding")
            await page.send("stdin", "9")
            await page.send("stdin", "3")
            family = server.family()
            code, said = server.end(number)
    finally:
        server.close()
    assert len(family) > 1
    assert (code, said) == (0 if number == signal.SIGINT else -number, "")
    until(lambda: not running(family))
    assert load_scorecard(workspace.scorecard_path("kv", "alpha", "anna")).score("correctness") == 93


async def test_with_a_token_nothing_is_answered_without_it_and_the_address_forgets_it(
    workspace: Workspace,
) -> None:
    server = Served(workspace.root, HANGING, "--token", TOKEN, *COMPARED)
    own = f"http://127.0.0.1:{server.port}"
    try:
        for path in (
            "/",
            "/?token=wrong",
            "/?token=",
            "/page/page.css",
            "/terminal/js/textual.js",
            "/download/x",
        ):
            assert (await status(server, path))[0] == 403
        assert (await status(server, "/ws", **UPGRADE, Origin=own))[0] == 403
        assert (await status(server, "/ws?token=not+to+be+guessed", **UPGRADE, Origin=own))[0] == 403
        code, answer = await status(server, "/?token=not%20to%20be%20guessed")
        assert (code, answer.headers["Location"]) == (303, "/")
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert TOKEN not in cookie
        brought = {"Cookie": cookie.partition(";")[0]}
        assert (await status(server, "/", **brought))[0] == 200
        # the browser adds the cookie to what another page asks for
        assert (await status(server, "/ws", **UPGRADE, **brought, Origin="http://evil.example"))[0] == 403
        assert not server.family()
        async with opened(server, **brought) as page:
            await page.see("accuracy")
        assert server.end()[0] == 0
    finally:
        server.close()


def test_a_browser_that_takes_nothing_any_more_does_not_hold_up_the_end(workspace: Workspace) -> None:
    server = Served(workspace.root, HANGING, *COMPARED)
    try:
        with socket.socket() as browser:
            browser.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            browser.connect(("127.0.0.1", server.port))
            own = f"127.0.0.1:{server.port}"
            lines = {"Host": own, "Origin": f"http://{own}", **UPGRADE}
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            # a screen that no buffer on the way holds
            browser.sendall(f"GET /ws?width=900&height=900 HTTP/1.1\r\n{head}\r\n".encode())
            assert browser.recv(64).startswith(b"HTTP/1.1 101")
            until(lambda: len(server.family()) > 1)
            until(lambda: _stands_still(browser))
            code, errors = server.end()
        assert (code, errors) == (0, "")
        until(lambda: not server.family())
    finally:
        server.close()


def _stands_still(browser: socket.socket) -> bool:
    """Whether bytes wait for it, and no more come."""
    waiting = set()
    for _ in range(10):
        waiting.add(fcntl.ioctl(browser, termios.FIONREAD, bytes(4)))
        time.sleep(0.1)
    return waiting != {bytes(4)} and len(waiting) == 1


async def test_more_pages_than_are_served_at_a_time_are_told_so_and_start_nothing(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "ws")
    server = Served(workspace.root, HANGING, "--pages", "1", *COMPARED)
    try:
        async with opened(server) as first:
            await first.see("accuracy")
            # the engine starts a child once it has told of its checks
            for _ in range(600):
                if len(family := server.family()) >= 3:
                    break
                await asyncio.sleep(0.02)
            async with opened(server) as second:
                assert "1 page at a time" in await second.end()
            assert server.family() == family
        until(lambda: not server.family())
        async with opened(server) as again:
            await again.see("accuracy")
    finally:
        server.close()
