"""Counts before keys: every digit begins one, but where the reader has given it to something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace

from .at_home import home, make_home, ready
from .conftest import THREE, make_app, make_workspace, running
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
        assert app.compare.panes.at == 0
        await app.press("slash", *"return", "enter", "g", "5", "n")
        assert (view.hit, view.cursor) == (4, 17)
        await app.press("semicolon", "2", "N", "g", "4", "J")
        assert view.selection == (0, 4)
        # a jump back over three jumps
        await app.press("escape", "7", "0", "G", "8", "0", "G", "9", "0", "G", "g", "4", "less_than_sign")
        assert view.cursor == 4


async def test_every_digit_begins_a_count_and_letters_choose_panes(workspace: Workspace) -> None:
    async with running(make_app(workspace), (120, 30)) as app:
        await app.settle()
        first, second = (pane.view for pane in app.compare.panes)
        await app.press(*"12G")
        assert (app.compare.panes.at, first.cursor) == (0, 11)
        await app.press("B", *"3j")
        assert (app.compare.panes.at, second.cursor, first.cursor) == (1, 3, 11)
        await app.press("A", *"2k")
        assert (app.compare.panes.at, first.cursor) == (0, 9)
        await app.press("l", "0")
        assert first.left == 0


async def test_a_note_behind_a_count_goes_to_the_submission_that_is_read(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("B", *"12G", "a", *"here", "escape", *"21G", "a", *"there", "escape")
        assert [len(app.compare.session.notes(index)) for index in (0, 1)] == [0, 2]


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (30, 8)])
async def test_the_keys_of_the_panes_are_hinted_at(three: Workspace, size: tuple[int, int]) -> None:
    async with running(make_app(three, THREE), size) as app:
        await app.press("escape")
        assert "A/B/C pane" in app.text().split("\n")[-1]


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


async def test_lists_home_and_the_matchup_take_counts_and_digits_score(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with running(make_app(workspace), (120, 40)) as app:
        await app.settle()
        rows = app.compare.checks_pane.rows
        await app.press("c", "m", "4", "j")
        assert rows.cursor == 4
        await app.press("semicolon", "2", "G")
        assert (rows.cursor, app.compare.parts.layout.in_focus) == (1, "checks")
        await app.press("M", "G", "2", "k", *"12G")
        assert app.matchup.matchup.blank
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
async def test_who_gives_the_panes_their_old_digits_back_leads_counts_with_a_key(
    workspace: Workspace, lead: str
) -> None:
    panes = "".join(f'code-pane-{letter} = "{n}"\n' for n, letter in enumerate("abc", 1))
    counts = "" if lead == "semicolon" else f'[keys.counts]\nbegin = "{lead}"\n'
    configure(f'[keys.everywhere]\n{panes}{counts}[keys.matchup]\nb-is-ahead = "2"\n')
    async with running(make_app(workspace), (120, 30)) as app:
        assert app.app.faults == ()
        await app.settle()
        view = app.compare.panes[0].view
        await app.press("2", "1", "5", "j")
        assert (view.cursor, app.compare.panes.at) == (5, 0)
        await app.press(lead, *"12G", lead, "3", "k", "2")
        assert (view.cursor, app.compare.panes.at) == (8, 1)
        assert "1/2 pane" in app.text().split("\n")[-1]
        await app.press("M", "2")
        assert app.matchup.matchup.winner == "beta"
