"""Draws into a browser: what Textual's web driver leaves open when the server or the page goes away.

The server (``judge-tui serve``) hands keys in on standard input and takes the screen from standard output.
When it is killed both end; by itself an app would go on unseen for ever.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from functools import partial
from typing import Any

from textual import events, messages
from textual.app import App
from textual.drivers.web_driver import WebDriver

from judge_tui.tui.keys.type_ahead import TypeAhead

__all__ = ["BrowserDriver"]


class BrowserDriver(WebDriver):
    """Textual's web driver, for an app that ends with its server and begins with the focus."""

    def __init__(self, app: App[Any], **settings: Any) -> None:
        super().__init__(app, **settings)
        # a partial, as what Textual has in its place
        self._write = partial(self._write_all)
        self._leaving: asyncio.Task[None] | None = None

    def _write_all(self, data: bytes) -> int:
        """Write to the server, whole; nobody listens any more once it has gone, and that is no fault."""
        rest = memoryview(data)
        with suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self.fileno, rest) :]
        return len(data)

    def start_application_mode(self) -> None:
        super().start_application_mode()
        # Textual begins blurred, and a key would go nowhere until the first click
        self._app.call_later(self._app.post_message, events.AppFocus())

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            # the input has ended by itself: there is no server any more
            self._leave()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "quit":
            self._leave()
        else:
            super().on_meta(packet_type, payload)

    def _leave(self) -> None:
        """End the app behind the keys that came before: they were typed to be kept."""
        self.send_message(events.Callback(callback=self._begin_to_leave))

    def _begin_to_leave(self) -> None:
        self._leaving = self._leaving or asyncio.create_task(self._left())

    async def _left(self) -> None:
        if isinstance(self._app, TypeAhead):
            await self._app.typed()
        self._app.post_message(messages.ExitApp())
