"""Counts before keys, beside digits that mean something by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace

from .at_home import home, make_home, ready
from .conftest import make_app, make_workspace, running
from .test_code import write
from .test_personal import configure

FUNCTIONS = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(60))


async def test_a_count_says_how_often_or_which_line(workspace: Workspace) -> None:
    write(workspace, FUNCTIONS)
    async with running(make_app(workspace), (120, 30)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        for keys, line in (
            ("5j", 5), ("4k", 1), ("40G", 39), ("7g", 6), ([*"99999999j"], 239),
            (["5", "left_square_bracket"], 220), (["g"], 0), (["4", "right_square_bracket"], 16),
            (["semicolon", *"12G"], 11), (["semicolon", *"3j"], 14), (["semicolon", *"0j"], 15),
        ):  # fmt: skip
            await app.press(*keys)
            assert view.cursor == line, keys
        assert app.compare._pane == 0
        await app.press("slash", *"return", "enter", "g", "5", "n")
        assert (view.hit, view.cursor) == (4, 17)
        await app.press("semicolon", "2", "N", "g", "4", "J")
        assert view.selection == (0, 4)
        # a jump back over three jumps
        await app.press("escape", "7", "0", "G", "8", "0", "G", "9", "0", "G", "g", "4", "less_than_sign")
        assert view.cursor == 4


async def test_digits_that_choose_panes_choose_them_at_once(workspace: Workspace) -> None:
    async with running(make_app(workspace), (120, 30)) as app:
        await app.settle()
        first, second = (pane.view for pane in app.compare.panes)
        await app.press("2", "j")
        assert (app.compare._pane, second.cursor, first.cursor) == (1, 1, 0)
        await app.press("1", "5", "j")
        assert (app.compare._pane, first.cursor) == (0, 5)
        await app.press("l", "0")
        assert first.left == 0


async def test_the_number_is_on_the_screen_until_its_key_comes_or_it_is_dropped(workspace: Workspace) -> None:
    async with running(make_app(workspace), (80, 24)) as app:
        await app.settle()
        view = app.compare.panes[0].view

        def shown() -> list[str]:
            return app.text().split("\n")[-1].split()[-3:]

        assert shown()[-2:] == ["?", "help"]
        await app.press("semicolon")
        assert shown() == [";", "?", "help"]
        await app.press("1", "5")
        assert shown() == ["15", "?", "help"]
        await app.press("escape")
        assert shown()[0] != "15"
        await app.press("j")
        assert view.cursor == 1
        # a key that goes nowhere takes the number with it, and a focus that moves too
        await app.press("5", "Q", "j", "6", "2", "c", "escape", "j")
        assert view.cursor == 3
        await app.press("5", "c")
        assert "5" not in shown()
        await app.press("4", "j", "escape")
        assert view.cursor == 3


async def test_lists_and_home_take_counts_and_digits_score(workspace: Workspace, tmp_path: Path) -> None:
    async with running(make_app(workspace), (120, 40)) as app:
        await app.settle()
        rows = app.compare.checks_pane.rows
        await app.press("c", "4", "j")
        assert rows.cursor == 4
        await app.press("semicolon", "2", "G")
        assert (rows.cursor, app.compare._part) == (1, "checks")
        await app.press("M", "G", "semicolon", "2", "k", "2")
        assert app.matchup.matchup.winner is None
        await app.press("escape", "s", "c", "8", "5")
        assert app.compare.session.card.score("correctness") == 85
    models = tuple(f"m{n}" for n in range(8))
    many = make_workspace(tmp_path / "many", models)
    async with running(make_home(many)) as app:
        await ready(app)
        await app.press("5", "j")
        assert home(app).matrix.row == 5
        await app.press("3", "G")
        assert home(app).matrix.row == 2


@pytest.mark.parametrize("lead", ["semicolon", "ctrl+t"])
async def test_who_moves_the_panes_elsewhere_counts_with_all_digits(workspace: Workspace, lead: str) -> None:
    panes = "".join(f'code-pane-{letter} = "f1{n}"\n' for n, letter in enumerate("abc"))
    counts = "" if lead == "semicolon" else f'[keys.counts]\nbegin = "{lead}"\n'
    configure(f"[keys.everywhere]\n{panes}{counts}")
    async with running(make_app(workspace), (120, 30)) as app:
        await app.settle()
        view = app.compare.panes[0].view
        await app.press("1", "2", "G")
        assert (view.cursor, app.compare._pane) == (11, 0)
        await app.press(lead, "3", "k", "f11")
        assert (view.cursor, app.compare._pane) == (8, 1)
