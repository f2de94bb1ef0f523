"""Digits over a score that stands: shown as old → new, and written by the next key alone."""

from __future__ import annotations

import pytest

from judge_tui.judging.workspace import Workspace

from .conftest import Driver, Opener, make_app, running


def scores(app: Driver) -> list[int | None]:
    return [card.score("correctness") for card in app.compare.session.cards]


async def test_digits_behind_the_key_that_goes_back_leave_a_complete_card_as_it_is(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=None), (80, 24)) as app:
        # A is complete, and the program goes on to B; the judge thinks that w does that
        await app.press("s", "c", "8", "5", "t", "7", "0", "n")
        assert app.compare.session.scored == 1
        await app.press("w", "c", "6", "0", "t", "5", "0", "escape")
        card = app.compare.session.cards[0]
        assert card.scores == {"correctness": 85, "tests": 70}
        assert "A: Tests stays 70: enter would have written 50 over it" in app.messages()


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (30, 8)])
async def test_old_and_new_are_in_sight_until_the_next_key_decides(
    workspace: Workspace, size: tuple[int, int]
) -> None:
    async with running(make_app(workspace, engine=None), size) as app:
        await app.press("s", "c", "8", "5", "k", "9")
        assert "85 → 9" in app.text()
        await app.press("0")
        assert "85 → 90" in app.text()
        assert "enter writes 90 over 85" in app.text().split("\n")[-1]
        assert scores(app)[0] == 85
        await app.press("enter")
        assert scores(app)[0] == 90
        assert "A: Correctness 85 → 90" in app.messages()
        # that key wrote no comment
        assert app.app.screen is app.compare
        assert "enter comment" in app.text().split("\n")[-1] or size[0] == 30
        await app.press("u")
        assert scores(app)[0] == 85


@pytest.mark.parametrize("key", ["escape", "u", "backspace"])
async def test_what_calls_it_off_does_nothing_else(workspace: Workspace, key: str) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8", "5", "k", "9", "0", key)
        assert (scores(app)[0], app.compare.parts.layout.in_focus) == (85, "rubric")
        assert "→" not in app.text().split("\n")[1]
        await app.press("j", "7", "0")
        assert app.compare.session.card.score("tests") == 70


@pytest.mark.parametrize("key", ["j", "w", "n", "tab", "A", "M", "plus"])
async def test_a_key_that_leads_elsewhere_leaves_what_stands_and_says_so(
    workspace: Workspace, key: str
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8", "5", "k", "9", "0", key)
        assert scores(app)[0] == (86 if key == "plus" else 85)
        assert "A: Correctness stays 85: enter would have written 90 over it" in app.messages()


async def test_a_total_of_ones_own_is_not_written_over_either(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "O", "8", "0", "k", "j", "7", "5")
        assert app.compare.session.card.overall == 80
        await app.press("enter")
        assert app.compare.session.card.overall == 75


async def test_what_is_typed_for_the_first_time_stands_at_once(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8")
        assert scores(app)[0] == 8
        await app.press("5")
        assert scores(app)[0] == 85
        # one that was taken away is typed anew
        await app.press("backspace", "9")
        assert scores(app)[0] == 9
        # the same once more asks nothing
        await app.press("k", "9")
        assert "→" not in app.text().split("\n")[1]


def test_what_is_typed_over_waits_whatever_another_window_says(opened: Opener) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.take_in(0)
    second.digit("9")
    assert (second.typed_over, second.score, second.unsaved()) == (9, 7, ())
    first.clear_score()
    first.flush()
    assert second.take_in(0)
    assert (second.typed_over, second.score) == (9, None)
    second.take_score()
    assert second.score == 9
