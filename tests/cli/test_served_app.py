"""The process behind a page: fed, read to its end whatever becomes of the page, and ended."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="the extra 'serve' is not installed")
pytest.importorskip("textual_serve", reason="the extra 'serve' is not installed")

from textual_serve.download_manager import DownloadManager  # noqa: E402

from judge_tui.cli.web import served_app  # noqa: E402 - only where its packages are installed
from judge_tui.cli.web.served_app import ServedApp  # noqa: E402

START = """
import json, os, signal, sys, time
def packet(kind, data):
    os.write(1, kind + len(data).to_bytes(4, "big") + data)
def heard():
    head = sys.stdin.buffer.read(5)
    return head[:1], sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
"""
#: Draws more than any pipe holds, and ends when it is asked to.
LOUD = """
os.write(1, b"__GANGLION__\\n")
for _ in range(64):
    packet(b"D", b"x" * 65536)
while heard() != (b"M", b'{"type": "quit"}'):
    pass
"""
DEAF = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"__GANGLION__\\n")
packet(b"D", b"ready")
time.sleep(600)
"""
SIZED = """
os.write(1, b"__GANGLION__\\n")
packet(b"D", (os.environ["COLUMNS"] + "x" + os.environ["ROWS"]).encode())
for _ in range(2):
    packet(b"D", b" ".join(heard()))
packet(b"?", b"of a later version")
packet(b"D", b"end")
"""
LAST_WORDS = r"""
print("no screen yet")
sys.stderr.write("cannot\x1b]0;owned\x07 open\nat all\n")
"""


class Page:
    """What a page was sent."""

    def __init__(self, fault: Exception | None = None, *, stuck: bool = False) -> None:
        self.drawn: list[bytes] = []
        self.fault, self.stuck = fault, stuck

    async def draw(self, data: bytes) -> None:
        if self.fault is not None and self.drawn:
            raise self.fault
        if self.stuck and self.drawn:
            await asyncio.Event().wait()
        self.drawn.append(data)

    async def tell(self, text: str) -> None:
        raise AssertionError(text)


async def ended(
    code: str, page: Page, during: Callable[[ServedApp], Awaitable[Any]], size: tuple[int, int] = (80, 24)
) -> ServedApp:
    """An app of that code, run to its end, with something done meanwhile."""
    app = ServedApp(
        (sys.executable, "-c", START + code), os.environ,
        draw=page.draw, tell=page.tell, downloads=DownloadManager(),
    )  # fmt: skip
    await app.start(*size)
    async with asyncio.timeout(60):
        await asyncio.gather(app.run(), during(app))
    assert app._app is not None
    assert app._app.returncode is not None
    return app


@pytest.mark.parametrize(
    "fault",
    [
        aiohttp.ClientConnectionError("lost"),
        aiohttp.ClientConnectionResetError(),
        ConnectionResetError(),
        None,
    ],
    ids=["lost", "reset by aiohttp", "reset", "takes nothing"],
)
async def test_an_app_whose_page_has_gone_is_read_on_so_that_it_can_end(fault: Exception | None) -> None:
    page = Page(fault, stuck=fault is None)

    async def stop(app: ServedApp) -> None:
        while not page.drawn:
            await asyncio.sleep(0.01)
        await app.stop()

    app = await ended(LOUD, page, stop)
    assert len(page.drawn) == 1
    assert app._app is not None
    # by itself, not by a signal
    assert app._app.returncode == 0


async def test_an_app_that_hears_nothing_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_app, "_GRACE_S", 0.1)
    monkeypatch.setattr(served_app, "_SIGNAL_S", 0.1)
    page = Page()

    async def stop(app: ServedApp) -> None:
        while not page.drawn:
            await asyncio.sleep(0.01)
        await app.stop()

    app = await ended(DEAF, page, stop)
    assert app._app is not None
    assert app._app.returncode == -9
    await app.stop()


async def test_sizes_stay_within_reason_and_nonsense_is_passed_over() -> None:
    page = Page()

    async def talk(app: ServedApp) -> None:
        for nonsense in (
            "",
            "[",
            "[]",
            "1",
            '{"a": 1}',
            '["resize"]',
            '["resize", {"width": "wide"}]',
            "null",
        ):
            assert await app.take(nonsense) is None
        assert await app.take('["ping", "7"]') == '["pong", "7"]'
        await app.take('["resize", {"width": 1e400, "height": 3}]')
        await app.take('["resize", {"width": 100000, "height": 0}]')
        await app.take('["stdin", "\\ud800\\u00e9"]')

    await ended(SIZED, page, talk, (10**9, -1))
    assert page.drawn == [
        b"1000x1",
        b'M {"type": "resize", "width": 1000, "height": 1}',
        "D ?é".encode(),
        b"end",
    ]


async def test_what_an_app_says_last_is_kept_without_what_acts_on_a_terminal() -> None:
    page = Page()
    app = await ended(LAST_WORDS, page, lambda app: asyncio.sleep(0))
    assert app.last_words == "cannot␛]0;owned␇ open\nat all"
    assert page.drawn == []
