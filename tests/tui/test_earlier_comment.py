"""What was once written of a dimension is offered again."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.card import Scorecard
from judge_tui.judging.comment_bank import earlier_comments
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.picker import Picker

from .conftest import make_app, running


def _card(workspace: Workspace, model: str, comment: str, *, task: str = "kv", judge: str = "anna") -> Path:
    path = workspace.scorecard_path(task, model, judge)
    card = Scorecard(task, model, judge).with_score("correctness", 60).with_comment("correctness", comment)
    save_scorecard(path, card, None)
    return path


@pytest.fixture
def written(workspace: Workspace) -> Workspace:
    _card(workspace, "beta", "The mask is\napplied too late.")
    _card(workspace, "beta", "Not mine.", judge="ben")
    return workspace


def test_ones_own_comments_of_every_task_are_found_once(written: Workspace) -> None:
    (written.root / "submissions" / "alpha" / "fuse").mkdir(parents=True)
    _card(written, "alpha", "The mask is\napplied too late.", task="fuse")
    broken = _card(written, "beta", "Lost.", task="fuse")
    broken.write_text("schema = [")
    found = earlier_comments(written, "anna", "correctness")
    assert [one.text for one in found] == ["The mask is\napplied too late."]
    assert found[0].score == 60
    assert earlier_comments(written, "anna", "tests") == []


async def test_one_is_picked_goes_behind_what_stands_and_is_undone_at_once(written: Workspace) -> None:
    async with running(make_app(written)) as app:
        await app.settle()
        await app.press("s", "c", "enter", *"Wrong.", "escape", "apostrophe")
        await app.until(lambda: isinstance(app.app.screen, Picker))
        assert "The mask is applied too late." in app.text()
        await app.press("enter")
        card = app.compare.session.cards[0]
        assert card.comment("correctness") == "Wrong.\n\nThe mask is\napplied too late."
        await app.press("u")
        assert app.compare.session.cards[0].comment("correctness") == "Wrong."


async def test_where_there_is_none_it_says_so(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "t", "apostrophe")
        await app.until(lambda: any("was written before" in told for told in app.messages()))
        await app.press("S", "apostrophe")
        await app.until(lambda: any("for a dimension" in told for told in app.messages()))
