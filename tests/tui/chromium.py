"""Chromium without a window, driven over the DevTools protocol on two pipes: no port, no further package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["PROGRAMS", "Chromium", "Tab", "program"]

#: Under these names the browser is installed.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 120.0
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    # nothing but this machine is there
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE judges.localhost",
)
#: Keeps the terminal of the page, which it keeps to itself, so that its cells can be read.
_KEEP_TERMINAL = """
Object.defineProperty(Object.prototype, "_core", {
  configurable: true,
  set(value) {
    if (value?.buffer) window.keptTerminal = value;
    Object.defineProperty(this, "_core", {value, writable: true, configurable: true});
  },
});
"""
_READ_CELLS = """
(() => {
  const buffer = window.keptTerminal?.buffer;
  if (!buffer) return "";
  return Array.from({length: window.keptTerminal.rows},
    (_, row) => buffer.lines.get(buffer.ydisp + row)?.translateToString(true) ?? "").join("\\n");
})()
"""
_KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "F9": 120}


def program() -> str | None:
    """Where a browser is, if there is one."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Navigated(Exception):
    """The page went elsewhere before it could answer."""


class Chromium:
    """A browser with nothing in it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        found = program()
        assert found is not None
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # the browser reads from 3 and writes to 4
        shell = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        settings = (*_FLAGS, *flags, f"--user-data-dir={folder}", "about:blank")
        self._log = folder.with_suffix(".log").open("wb")
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", str(to_browser), str(from_browser), found, *settings],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=self._log,
            stderr=subprocess.STDOUT, start_new_session=True, env=os.environ | {"HOME": str(folder)},
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._rest, self._number = b"", 0
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Have something done, and wait for the answer."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        os.write(
            self._out, json.dumps(request | ({"sessionId": session} if session else {})).encode() + b"\0"
        )
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            told = self._next(end)
            if told.get("id") == self._number:
                if "navigated" in told.get("error", {}).get("message", ""):
                    raise Navigated
                assert "error" not in told, f"{method}: {told['error']}"
                return dict(told["result"])
            self.events.append(told)
        raise AssertionError(f"no answer to {method}")

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], max(end - time.monotonic(), 0))[0], (
                "the browser is silent"
            )
            read = os.read(self._in, 1 << 16)
            assert read, "the browser has ended"
            self._rest += read
        one, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(one))

    def open(self, url: str, size: tuple[int, int] = (1000, 600)) -> Tab:
        """Open a page in a new tab."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask(
            "Target.createTarget", url="about:blank", browserContextId=context, width=size[0], height=size[1]
        )["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, target, session)
        tab.ask("Page.enable")
        tab.ask("Network.enable")
        tab.ask("Runtime.enable")
        tab.ask("Page.addScriptToEvaluateOnNewDocument", source=_KEEP_TERMINAL)
        tab.resize(*size)
        tab.ask("Page.navigate", url=url)
        return tab

    def close(self) -> None:
        """End the browser and everything that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._log.close()


class Tab:
    """A page with a terminal in it."""

    def __init__(self, browser: Chromium, target: str, session: str) -> None:
        self.browser, self.target, self._session = browser, target, session

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Have something done in this tab."""
        return self.browser.ask(method, self._session, **parameters)

    def value(self, expression: str) -> Any:
        """What a piece of JavaScript gives in the page."""
        told = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def text(self) -> str:
        """What stands in the cells of the terminal; nothing while a page is being loaded."""
        try:
            return str(self.value(_READ_CELLS))
        except Navigated:
            return ""

    def until(self, holds: Callable[[], Any]) -> None:
        """Wait for something to become true."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, self.text()
            time.sleep(0.05)

    def see(self, *texts: str) -> None:
        """Wait until all these texts are on the screen together."""

        def there() -> bool:
            shown = self.text()
            return all(text in shown for text in texts)

        self.until(there)

    def type(self, text: str) -> None:
        """Press a key for every character."""
        for letter in text:
            self.press(letter, text=letter)

    def press(self, key: str, text: str = "") -> None:
        """Press a key and let it go."""
        code = _KEYS.get(key) or (ord(key.upper()) if key.isascii() and key.isalnum() else 0)
        told = {"key": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **told)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **told)

    def move(self, x: float, y: float) -> None:
        """Move the mouse to a place in pixels."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """Click with the left button where the mouse is."""
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def resize(self, width: int, height: int) -> None:
        """Make the window so many pixels large."""
        size = {"width": width, "height": height}
        self.ask("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, mobile=False, **size)

    def streamed(self) -> bytes:
        """What has come through websockets until now, as far as it was bytes."""
        self.value("0")
        frames = (event["params"]["response"] for event in self._events("Network.webSocketFrameReceived"))
        return b"".join(base64.b64decode(frame["payloadData"]) for frame in frames if frame["opcode"] == 2)

    def _events(self, *methods: str) -> list[dict[str, Any]]:
        told = self.browser.events
        return [e for e in told if e.get("sessionId") == self._session and e["method"] in methods]

    def asked_for(self) -> list[str]:
        """The addresses that the page has asked for."""
        events = self._events("Network.requestWillBeSent", "Network.webSocketCreated")
        return [str(event["params"].get("url") or event["params"]["request"]["url"]) for event in events]

    def picture(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])

    def close(self) -> None:
        """Close the tab as a person does."""
        self.browser.ask("Target.closeTarget", targetId=self.target)
