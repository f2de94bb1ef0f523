"""Typing ahead: a key waits for what the keys before it have opened.

Textual hands each key to the widget that has the focus when the key arrives. Behind a key that opens
an editor that is still the old widget, which would take the first letters of a sentence for commands.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from textual import events
from textual.app import App, ScreenStackError
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget

from judge_tui.tui.textual_private.at_once import AtOnce
from judge_tui.tui.textual_private.drawing import collect_changed, draw_now
from judge_tui.tui.textual_private.escape_key import without_alt
from judge_tui.tui.textual_private.unprinted import as_text

__all__ = ["TypeAhead", "written_over"]

Result = TypeVar("Result")

#: A key may post a message whose handler posts another: so often the way to the app is gone at least.
_ROUNDS = 3
#: Turns of the event loop after which a message that still waits is waited for in another way.
_TURNS = 16
#: Whatever hangs, the next key is let through after this time.
_PATIENCE_S = 2.0
_LOOK_S = 0.02
#: Nothing is drawn while a key has its effect, which is then drawn in one frame; for so long at most.
_HELD_S = 0.05
#: A hand that types rests between two words, but not for so long.
_REST_S = 0.6
#: One who reads, or has gone, has not typed for so long.
_LONG_REST_S = 4.0


class TypeAhead(App[Result]):
    """An app that takes keys and pastes one by one, each when the one before has had its effect."""

    class Passed(Message, verbose=True):
        """Has gone all the way that a key goes."""

        def __init__(self, passed: asyncio.Future[None]) -> None:
            super().__init__()
            self.passed = passed

    _typed: deque[events.Key | events.Paste]
    _typist: asyncio.Task[None] | None = None
    _typed_at = -_REST_S
    _deaf_until = 0.0
    _drawing: asyncio.Task[None] | None = None
    _held_at: float | None = None
    _followed = True

    @property
    def holds_drawing(self) -> bool:
        """Whether a key is having its effect, which is drawn in one frame once it has."""
        return self._held_at is not None and time.monotonic() - self._held_at < _HELD_S

    @property
    def typing(self) -> bool:
        """Whether keys are still on their way."""
        return self._typist is not None and not self._typist.done()

    async def typed(self) -> None:
        """Wait until all keys that have arrived have had their effect."""
        while self._typist is not None and self.typing:
            await asyncio.wait([self._typist])

    @property
    def resting(self) -> bool:
        """Whether nobody has typed for a moment."""
        return time.monotonic() - self._typed_at >= _REST_S

    @property
    def rests_long(self) -> bool:
        """Whether nobody has typed for seconds."""
        return time.monotonic() - self._typed_at >= _LONG_REST_S

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        if event.time < self._deaf_until:
            return
        self._typed_at = time.monotonic()
        if not self.typing:
            self._typed = deque()
            self._typist = asyncio.create_task(self._type())
        keys = without_alt(event) if isinstance(event, events.Key) else ()
        self._typed += map(as_text, keys) if keys else [event]

    def action_suspend_process(self) -> None:
        """Give the terminal to the shell; what is typed behind this key is meant for the shell."""
        super().action_suspend_process()
        self._take_terminal()

    def lend_terminal(self, command: Sequence[str]) -> None:
        """Give the terminal to a program until that ends; what was typed ahead was meant for the program.

        Raises:
            SuspendNotSupported: There is no terminal to give: the app is shown by a browser.
            OSError: The program cannot be started.
        """
        with self.suspend():
            subprocess.run(command, check=False)
        self._take_terminal()

    def _take_terminal(self) -> None:
        # here the shell, or the program, has given it back
        self._typed.clear()
        self._deaf_until = time.monotonic()

    async def _type(self) -> None:
        while self._typed:
            event = self._typed.popleft()
            if self._held_at is None:
                self._held_at = time.monotonic()
            try:
                await self._mounted(lambda: self.screen.is_mounted)
                # Textual lets keys bring the focus back that the terminal had lost, and pastes go nowhere
                self.app_focus = True
                if not await self._done_at_once(event):
                    before = self._aim
                    await super().on_event(event)
                    await self._followed_up(before)
                if not self._typed:
                    self._held_at = None
                    draw_now(self.screen)
            except ScreenStackError:
                # the app has ended: nobody is there to take a key
                return
            except Exception as error:
                # a fault of a binding belongs into the app's own loop, which knows what to do with it
                self.call_later(_raise, error)
        self._held_at = None

    async def _done_at_once(self, event: events.Key | events.Paste) -> bool:
        """Whether a key was one that needs nobody on its way, and has had its effect."""
        widget = self.focused
        if isinstance(event, events.Key) and isinstance(widget, AtOnce):
            action = widget.at_once(event.key)
            if action and await self.run_action(action, widget):
                self._followed = False
                collect_changed(self.screen)
                return True
        if not self._followed:
            # what such a key has sent on its way after all arrives before a key that goes there
            self._followed = True
            await self._followed_up(self._aim)
        return False

    async def _followed_up(self, before: tuple[MessagePump, MessagePump | None]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await self._settled(before)

    def draw_soon(self) -> None:
        """Draw what was just changed beside a key, in one frame, as soon as all of it is known."""
        self._drawing = asyncio.create_task(self._draw_calmed())

    async def _draw_calmed(self) -> None:
        with suppress(ScreenStackError):
            for _ in range(_ROUNDS):
                # what a widget has to draw is known a turn of its own loop later
                await asyncio.sleep(0)
                await self._calmed()
            draw_now(self.screen)

    @property
    def _aim(self) -> tuple[MessagePump, MessagePump | None]:
        """Where the next key would go."""
        return self.screen, self.focused

    async def _settled(self, before: tuple[MessagePump, MessagePump | None]) -> None:
        """Wait until the key, and the messages and the focus that it has sent on their way, have arrived.

        Args:
            before: Where the key itself went.
        """
        stable = 0
        while stable < _ROUNDS:
            await self._round(self.focused or self.screen)
            calm = await self._calmed()
            now = self._aim
            stable, before = (stable + 1 if now == before else 0), now
            if stable and calm:
                break
            if stable == _ROUNDS and await self._mounted(self._is_mounted_whole):
                stable = 0

    async def _round(self, start: MessagePump) -> None:
        """Send a message the way that keys go, from the widget up to the app, behind all that is there."""
        loop = asyncio.get_running_loop()
        passed = loop.create_future()
        again: asyncio.TimerHandle

        def look() -> None:
            nonlocal again
            if not start.is_running and not passed.done():
                # the widget has gone, and the message with it
                passed.set_result(None)
            again = loop.call_later(_LOOK_S, look)

        again = loop.call_later(_LOOK_S, look)
        try:
            if start.post_message(self.Passed(passed)):
                await passed
        finally:
            again.cancel()

    def on_type_ahead_passed(self, message: Passed) -> None:
        if not message.passed.done():
            message.passed.set_result(None)

    async def _mounted(self, whole: Callable[[], bool]) -> bool:
        """Wait until what is to be on the screen is there; whether that took any time."""
        end = time.monotonic() + _PATIENCE_S
        waited = False
        while time.monotonic() < end:
            # before the first screen and after the last one there is none
            with suppress(ScreenStackError):
                if whole():
                    break
            waited = True
            await asyncio.sleep(_LOOK_S / 10)
        return waited

    def _is_mounted_whole(self) -> bool:
        return all(node.is_mounted for node in self.screen.walk_children(Widget, with_self=True))

    async def _calmed(self) -> bool:
        """Whether all is mounted and, after a few turns of the loop, no message waits."""
        for _ in range(_TURNS):
            nodes = [*self.screen.walk_children(with_self=True), self]
            if not any(node.message_queue_size for node in nodes):
                return self._is_mounted_whole()
            await asyncio.sleep(0)
        return False


def _raise(error: Exception) -> None:
    raise error


def written_over(screen: Screen[Any]) -> bool:
    """Whether somebody writes in a dialog over a screen: a change behind it would have all drawn anew."""
    app = screen.app
    return app.screen is not screen and isinstance(app, TypeAhead) and not app.resting
