"""Keys that are done at once: the same as if they had gone the way of all keys, and nothing else is."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.textual_private.at_once import AtOnce


class View(AtOnce, can_focus=True):
    """Moves at once with ``j``, says with ``s`` that it has moved, and leaves with ``x``."""

    class Said(Message):
        pass

    BINDINGS: ClassVar = [
        Binding("j", "move(1)", id="view.down"),
        Binding("s", "say"),
        Binding("p,k,w,x", "move(10)"),
    ]
    AT_ONCE: ClassVar = frozenset({"move", "say"})

    place = 0

    def render(self) -> str:
        return f"at {self.place}"

    def action_move(self, steps: int) -> None:
        self.place += steps
        self.refresh()

    def action_say(self) -> None:
        self.post_message(self.Said())


class Listening(Vertical):
    """Hears of ``k`` and ``w``."""

    def key_k(self) -> None:
        assert isinstance(self.app, Judge)
        self.app.heard.append("k")

    async def on_key(self, event: events.Key) -> None:
        assert isinstance(self.app, Judge)
        self.app.heard.append(event.key)


class Plain(Vertical):
    """Hears of nothing, and keeps what comes to it."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: list[str] = []

    def post_message(self, message: Message) -> bool:
        self.passed.append(type(message).__name__)
        return super().post_message(message)


class Judge(TypeAhead[None]):
    """An app with one view, which is named in ``inside``."""

    BINDINGS: ClassVar = [Binding("p", "first", priority=True), Binding("m", "tell")]

    def __init__(self, inside: type[Widget]) -> None:
        super().__init__()
        self.inside = inside
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        with self.inside():
            yield View()

    def on_mount(self) -> None:
        self.query_one(View).focus()

    def on_view_said(self) -> None:
        self.heard.append("said")

    def action_first(self) -> None:
        self.heard.append("first")

    def action_tell(self) -> None:
        self.heard.append("told")


async def typed(app: Judge, *keys: str) -> int:
    """Where the view of a running app stands after some keys, which arrive all at once."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))
    # the app hears of the first before anybody can wait for it
    await asyncio.sleep(0.01)
    await app.typed()
    return app.query_one(View).place


async def test_a_key_at_once_is_drawn_before_the_next_and_goes_nowhere() -> None:
    app = Judge(Plain)
    async with app.run_test():
        assert await typed(app, "j") == 1
        assert "at 1" in str(app.screen._compositor.render_strips(app.size)[0].text)
        assert await typed(app, *"jjj") == 4
        assert not {"Key", "Passed"} & set(app.query_one(Plain).passed)


async def test_what_hears_of_a_key_on_its_way_still_does() -> None:
    app = Judge(Listening)
    async with app.run_test():
        assert await typed(app, "j", "k", "w") == 21
        assert app.heard == ["j", "k", "k", "w"]


async def test_a_key_that_comes_first_elsewhere_is_not_the_view_s() -> None:
    app = Judge(Plain)
    async with app.run_test():
        assert await typed(app, "p", "j") == 1
        assert app.heard == ["first"]


async def test_the_reader_s_own_keys_hold() -> None:
    app = Judge(Plain)
    app.set_keymap({"view.down": "m"})
    async with app.run_test():
        assert await typed(app, "j", "m", "m") == 2
        assert app.heard == []


async def test_what_a_key_at_once_has_sent_arrives_before_another_key() -> None:
    app = Judge(Plain)
    async with app.run_test():
        await typed(app, "j", "s", "j", "m")
        assert app.heard == ["said", "told"]
