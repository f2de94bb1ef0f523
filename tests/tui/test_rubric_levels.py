"""What the rubric says of the level that a score reaches, while it is typed and afterwards."""

from __future__ import annotations

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.keypad import Keypad

from .conftest import make_app, running

BELOW = "▸     below 60, the lowest level"
LEVELS = (
    "60 Wrong inside the contract.",
    "75 Right for equal lengths.",
    "85 Right for ragged batches.",
    "95 Right and argued.",
)


async def test_each_level_is_said_once_and_the_reached_one_first(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        for keys, first in (("c", LEVELS[3]), ("59", BELOW), ("c60", LEVELS[0]), ("c86", LEVELS[2])):
            await app.press("s", *keys)
            text = app.text()
            for said in LEVELS:
                assert text.count(said) == 1
            assert text.count("below 60") == (first == BELOW)
            assert text.index(first) == min(map(text.index, (first, *LEVELS)))


async def test_a_narrow_rubric_wraps_what_it_says_of_a_score_below_all_levels(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (80, 24)) as app:
        await app.press("s", "c", "5", "9", *["T"] * 9)
        column = app.compare.rubric_pane.lines.region.x
        lines = (line[column:].split() for line in app.text().split("\n"))
        words = [word for line in lines for word in line]
        at = words.index("below")
        assert words[at : at + 5] == ["below", "60,", "the", "lowest", "level"]


@pytest.mark.parametrize("typed", ["8", "1", "10"])
async def test_a_score_that_a_digit_may_still_change_says_no_level(
    workspace: Workspace, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keypad, "REST_S", 60.0)
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", *typed)
        assert app.compare.session.score == int(typed)
        assert "▸  " not in app.text()
        assert "below 60" not in app.text()
        assert all(app.text().count(said) == 1 for said in LEVELS)
        # to go on is to leave it at that
        await app.press("t", "c")
        assert BELOW in app.text()


async def test_a_score_of_one_digit_says_its_level_once_it_is_left_at_that(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keypad, "REST_S", 0.1)
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8")
        await app.until(lambda: BELOW in app.text())


async def test_every_submission_has_its_column_however_narrow_the_rubric_is(workspace: Workspace) -> None:
    for width in (40, 50, 60, 65, 80, 120):
        async with running(make_app(workspace), size=(width, 30)) as app:
            await app.settle()
            await app.press("s", "c", "6", "0", "w", "c", "5", "9")
            lines = app.compare.rubric_pane.lines
            room = lines.scrollable_content_region.width
            texts = ["".join(text for text, _ in spans) for spans, row in lines._lines if row is not None]
            assert all(len(text) <= room for text in texts), (width, room, texts)
            assert texts[0].split()[-2:] == ["60", "59"]
