"""Tours: actions that are pressed by their keys, and what each of them changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from judge_tui.tui.keys.keymap import key_table, load_keys
from judge_tui.tui.widgets.code_view import CodeView

from .conftest import Driver

Probe = Callable[[Driver], Any]
#: An action, what it changes, and to what: a value, or MORE, LESS or OTHER than before. Between such steps
#: stand keys, and what is done from outside.
Step = tuple[str, Probe, Any] | tuple[str, ...] | Callable[[Driver], Awaitable[None]]
MORE, LESS, OTHER = object(), object(), object()


async def tour(app: Driver, steps: Sequence[Step]) -> None:
    """Press the keys of the steps; each action must bring about what its step says, and not before."""
    load_keys()
    table = key_table()
    for step in steps:
        if callable(step):
            await step(app)
        elif len(step) == 3 and callable(step[1]):
            name, probe, wanted = step
            before = probe(app)

            def due(probe: Probe = probe, wanted: Any = wanted, before: Any = before) -> bool:
                now = probe(app)
                if wanted in (MORE, LESS):
                    return bool(now > before if wanted is MORE else now < before)
                return bool(now != before if wanted is OTHER else now == wanted)

            assert not due(), f"{name}: {before!r} already"
            await app.press(table[name][0])
            try:
                await app.until(due)
            except AssertionError:
                pytest.fail(f"{name} ({table[name][0]}): {before!r} became {probe(app)!r}")
        else:
            await app.press(*step)  # type: ignore[arg-type]


def resized(width: int, height: int) -> Callable[[Driver], Awaitable[None]]:
    async def resize(app: Driver) -> None:
        await app.pilot.resize_terminal(width, height)
        await app.until(lambda: app.app.size == (width, height))

    return resize


def view(app: Driver) -> CodeView:
    return app.compare.panes[app.compare.panes.at].view


def cursor(app: Driver) -> int:
    return view(app).cursor


def top(app: Driver) -> int:
    return view(app).scroll_offset.y


def left(app: Driver) -> int:
    return view(app).left


def selected(app: Driver) -> int:
    first, last = view(app).selection
    return last - first


def selecting(app: Driver) -> bool:
    return view(app).selected_from is not None


def screen(app: Driver) -> str:
    return type(app.app.screen).__name__


def part(app: Driver) -> str:
    return app.compare.parts.layout.in_focus


def pane(app: Driver) -> int:
    return app.compare.panes.at


def row(app: Driver) -> int:
    return app.app.screen.focused.cursor  # type: ignore[union-attr]


def focused(app: Driver) -> str:
    found = app.app.screen.focused
    return "" if found is None else found.id or type(found).__name__


def searching(app: Driver) -> bool:
    return bool(app.compare.query("#search"))


def told(app: Driver) -> float:
    """When the newest message was raised."""
    return max((message.raised_at for message in app.app._notifications), default=0.0)


def score(app: Driver) -> int | None:
    return app.compare.session.card.score("correctness")


def line(app: Driver) -> int:
    return app.compare.session.row


def kind(app: Driver) -> str:
    return app.app.screen.query_one("#kind").chosen  # type: ignore[attr-defined,no-any-return]


def severity(app: Driver) -> str:
    return app.app.screen.query_one("#severity").chosen  # type: ignore[attr-defined,no-any-return]


def notes(app: Driver) -> int:
    return len(app.compare.session.notes(pane(app)))


def picked(app: Driver) -> int:
    return app.app.screen._rows.cursor  # type: ignore[attr-defined,no-any-return]


def again(app: Driver) -> int:
    return sum(outcome.summary.startswith("again") for outcome in app.compare.session.outcomes.values())


def conflicts(app: Driver) -> int:
    return len(app.compare.parts.saving.conflicts)
