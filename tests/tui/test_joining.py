"""What two windows have changed is kept, part by part; a judge is asked where both have changed the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from judge_tui.judging.card import Scorecard
from judge_tui.judging.matchup import Criterion, Matchup, Matchups, save_matchups
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import load_scorecard, render_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.question import ConflictQuestion, LeaveQuestion

from .conftest import Driver, Opener, Reports, make_app, running


def elsewhere(workspace: Workspace, change: Callable[[Scorecard], Scorecard]) -> None:
    """Another program changes the first card."""
    path = workspace.scorecard_path("kv", "alpha", "anna")
    path.write_text(render_scorecard(change(load_scorecard(path))))


def on_disk(workspace: Workspace) -> Scorecard:
    return load_scorecard(workspace.scorecard_path("kv", "alpha", "anna"))


async def scored(app: Driver) -> None:
    """A score is on disk."""
    await app.press("s", "c", "8", "5")
    app.compare.session.flush()


async def test_what_two_windows_have_changed_beside_each_other_is_saved_unasked(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await scored(app)
        elsewhere(
            workspace, lambda c: c.with_comment("correctness", "theirs").with_note(new_note("bug", "theirs"))
        )
        app.compare.session.put_note(0, new_note("strength", "mine"))
        await app.until(lambda: any("as well: what either has changed is kept" in m for m in app.messages()))
        await app.until(lambda: not app.compare.session.unsaved())
        card = on_disk(workspace)
        assert (card.score("correctness"), card.comment("correctness")) == (85, "theirs")
        assert sorted(note.text for note in card.notes) == ["mine", "theirs"]
        # one's own change alone is taken back
        await app.press("u")
        assert [note.text for note in app.compare.session.card.notes] == ["theirs"]
        assert "NOT SAVED" not in app.text()


def both(c: Scorecard) -> Scorecard:
    return c.with_score("correctness", 40).with_score("tests", 30).with_comment("tests", "theirs")


async def in_conflict(app: Driver, workspace: Workspace) -> None:
    await scored(app)
    elsewhere(workspace, both)
    session = app.compare.session
    session.change(0, "two scores", session.card.with_score("correctness", 90).with_score("tests", 60))
    await app.until(lambda: bool(app.compare.parts.saving.conflicts))


async def test_only_what_both_have_changed_is_asked_about_each_by_itself(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await in_conflict(app, workspace)
        await app.press("exclamation_mark")
        assert "Correctness: 90 here, 40 there" in app.text()
        assert "Tests: 60" not in app.text()
        await app.press("o")
        assert "Tests: 60 here, 30 there" in app.text()
        assert "in all that is left" not in app.text()
        await app.press("r")
        await app.until(lambda: not app.compare.session.unsaved())
        card = on_disk(workspace)
        assert (card.score("correctness"), card.score("tests"), card.comment("tests")) == (90, 30, "theirs")
        # what was not chosen is a step away, each by itself
        await app.press("u")
        assert app.compare.session.card.score("tests") == 60
        await app.press("u")
        assert app.compare.session.card.score("correctness") == 40


@pytest.mark.parametrize(("key", "scores"), [("O", (90, 60)), ("R", (40, 30))])
async def test_one_answer_may_settle_all_of_them(
    workspace: Workspace, key: str, scores: tuple[int, int]
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await in_conflict(app, workspace)
        await app.press("exclamation_mark", key)
        await app.until(lambda: not app.compare.session.unsaved())
        card = on_disk(workspace)
        assert (card.score("correctness"), card.score("tests")) == scores
        assert card.comment("tests") == "theirs"


async def test_a_question_that_is_put_off_changes_nothing_and_stands(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await in_conflict(app, workspace)
        await app.press("exclamation_mark", "o", "escape")
        assert on_disk(workspace).score("correctness") == 40
        assert "NOT SAVED" in app.text()
        await app.press("q")
        assert isinstance(app.app.screen, LeaveQuestion)


@pytest.mark.parametrize("size", [(40, 12), (30, 8)])
async def test_the_question_shows_what_differs_and_its_answers_on_small_terminals(
    workspace: Workspace, size: tuple[int, int]
) -> None:
    async with running(make_app(workspace, engine=None), size) as app:
        await in_conflict(app, workspace)
        await app.press("exclamation_mark")
        assert isinstance(app.app.screen, ConflictQuestion)
        for told in ("Correctness: 90 here", "o    keep", "r    load"):
            assert told in app.text(), app.text()
        await app.press("o", "o")
        elsewhere(workspace, lambda c: c.with_comment("tests", "what they say"))
        session = app.compare.session
        session.change(0, "comment", session.card.with_comment("tests", "what is said here"))
        await app.until(lambda: bool(app.compare.parts.saving.conflicts))
        await app.press("exclamation_mark")
        for told in ("here   what is said here", "there  what they say", "o    keep", "r    load"):
            assert told in app.text(), app.text()


async def test_where_the_card_is_gone_a_small_terminal_shows_what_would_be_lost(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (40, 12)) as app:
        await scored(app)
        workspace.scorecard_path("kv", "alpha", "anna").unlink()
        app.compare.session.save(0)
        await app.until(lambda: bool(app.compare.parts.saving.conflicts))
        await app.press("exclamation_mark")
        for told in ("Correctness: 85 here, – there", "o    keep", "r    load"):
            assert told in app.text(), app.text()


def test_windows_that_change_beside_each_other_end_with_the_same_card(
    opened: Opener, reports: Reports
) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.put_note(0, new_note("bug", "second's"))
    second.flush()
    reports.wait_for("conflict")
    assert second.merge(0)
    second.flush()
    first.set_text("first's", index=0, row=first.rows[0])
    first.flush()
    assert first.merge(0)
    first.flush()
    assert second.take_in(0)
    for session in (first, second):
        assert (session.card.score("correctness"), session.card.comment("correctness")) == (7, "first's")
        assert [note.text for note in session.card.notes] == ["second's"]
        assert not session.unsaved()


@pytest.mark.usefixtures("not_looking")
async def test_a_matchup_is_joined_line_by_line_too(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "A")
        app.matchup.flush()
        path = workspace.matchups_path("kv", "anna")
        path.unlink()
        theirs = Matchup(("alpha", "beta"), "alpha", criteria=(Criterion("Theirs"),))
        save_matchups(path, Matchups("kv", "anna", (theirs,)), None)
        await app.press("a", *"Spe")
        await app.until(lambda: "changed by another window" in app.text())
        # what is written goes on where it was begun
        await app.press(*"ed", "escape")
        await app.until(lambda: not app.matchup.unsaved and len(app.matchup.matchup.criteria) == 2)
        await app.until(lambda: "Theirs" in app.text() and "Speed" in app.text())
        names = [one.name for one in workspace.matchups("kv", "anna").between(("alpha", "beta")).criteria]
        assert sorted(names) == ["Speed", "Theirs"]


async def test_places_of_notes_that_both_windows_find_are_no_news(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        session = app.compare.session
        note = new_note("bug", "mine", file="kv_cache.py", lines=(1, 1), source=["x"])
        session.put_note(0, note)
        session.flush()
        elsewhere(workspace, lambda c: c.with_note(replace(c.notes[0], lines=(2, 2))))
        session.save(0)
        await app.until(lambda: not session.unsaved())
        assert on_disk(workspace).notes[0].lines == (2, 2)
        assert not any("as well" in told for told in app.messages())


async def test_what_keeps_from_leaving_shows_its_answer_on_the_smallest_terminal(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=None), (30, 8)) as app:
        await in_conflict(app, workspace)
        await app.press("q")
        assert isinstance(app.app.screen, LeaveQuestion)
        for told in ("Another window", "l    leave all the same"):
            assert told in app.text(), app.text()
