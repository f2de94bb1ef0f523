"""Textual's private modules are imported in one room alone, which says of each what for."""

from __future__ import annotations

import ast
import re
from importlib.metadata import requires
from pathlib import Path

import pytest
from textual.app import App
from textual.timer import Timer

from judge_tui.tui.textual_private.timers import let_timers_end

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "tui" / "textual_private"


def private(path: Path) -> list[str]:
    """The private modules and names of Textual that a file imports."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "textual":
            found += [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.startswith("textual")]
    return [name for name in found if re.search(r"\._", name)]


def test_no_other_room_imports_private_modules_of_textual() -> None:
    files = [path for room in ("cli", "tui", "judging", "checks") for path in (ROOT / room).rglob("*.py")]
    assert {path: names for path in files if path.parent != ROOM and (names := private(path))} == {}
    assert len([path for path in ROOM.glob("*.py") if private(path)]) >= 5


def test_textual_is_held_to_the_minor_version_whose_private_parts_are_known() -> None:
    held = next(text for text in requires("judge-tui") or () if re.match(r"textual\b(?!-)", text))
    assert re.fullmatch(r"textual(<8\.3,>=8\.2|>=8\.2,<8\.3)", held.replace(" ", "")), held


@pytest.mark.parametrize("left", [-0.0003, 0.0])
async def test_a_timer_of_no_time_comes_to_its_end(left: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Timer, "__init__", Timer.__init__)
    let_timers_end()
    called: list[bool] = []
    app = App[None]()
    async with app.run_test() as pilot:
        # one that hangs takes the loop with it: nothing here is waited for in vain but by the whole run
        app.set_timer(left, lambda: called.append(True))
        await pilot.pause(0.05)
    assert called == [True]
