"""What a judge is told where another window has changed the same: both versions, and what is not saved."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from judge_tui.judging.matchup import Matchup, Matchups, save_matchups
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import load_scorecard, render_scorecard
from judge_tui.judging.versions import Differing
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.comparing.saving import Saving
from judge_tui.tui.screens.criterion_editor import CriterionEditor
from judge_tui.tui.screens.question import ConflictQuestion, LeaveQuestion, TheirsQuestion
from judge_tui.tui.screens.text_editor import TextEditor

from .conftest import Driver, Opener, make_app, running

SAVED, UNSAVED = "saved as you type", "not saved: changed by another window"


def write_elsewhere(workspace: Workspace, comment: str) -> None:
    """Save a comment on the first card, as another window does."""
    path = workspace.scorecard_path("kv", "alpha", "anna")
    # its stamp is that of what it has read
    path.write_text(render_scorecard(load_scorecard(path).with_comment("correctness", comment)))


async def commented(app: Driver, text: str) -> None:
    await app.press("s", "c", "enter", *text)


async def test_an_open_editor_says_that_what_is_typed_is_not_saved(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await commented(app, "mine")
        assert isinstance(app.app.screen, TextEditor)
        await app.until(lambda: not app.compare.session.unsaved())
        assert SAVED in app.text()
        write_elsewhere(workspace, "theirs")
        await app.press("x")
        await app.until(lambda: UNSAVED in app.text())
        assert SAVED not in app.text()
        # nor does one that is opened then, but one of another card does
        await app.press("escape", "enter")
        assert UNSAVED in app.text()
        await app.press("escape", "w", "enter")
        assert SAVED in app.text()
        await app.press("escape", "!", "o")
        await app.until(lambda: not app.compare.parts.saving.conflicts)
        await app.press("w", "enter")
        assert SAVED in app.text()


async def test_the_question_shows_both_texts(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await commented(app, "mine")
        await app.until(lambda: not app.compare.session.unsaved())
        write_elsewhere(workspace, "the other\nline")
        await app.press("x", "escape")
        await app.until(lambda: bool(app.compare.parts.saving.conflicts))
        await app.press("!")
        lines = [line.rstrip("│ ").rpartition("│")[2].strip() for line in app.text().split("\n")]
        at = lines.index("comment on Correctness:")
        assert [line.split() for line in lines[at + 1 : at + 3]] == [
            ["here", "minex"],
            ["there", "the", "other", "line"],
        ]


async def test_a_conflict_that_is_settled_asks_nothing_at_leaving_though_its_report_is_slow(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await commented(app, "mine")
        await app.until(lambda: not app.compare.session.unsaved())
        write_elsewhere(workspace, "theirs")
        await app.press("x", "escape")
        await app.until(lambda: bool(app.compare.parts.saving.conflicts))
        monkeypatch.setattr(Saving, "take", lambda saving, report: None)
        await app.press("!", "o")
        await app.until(lambda: not app.compare.session.unsaved())
        await app.press("q")
        assert not isinstance(app.app.screen, LeaveQuestion)


ALIKE = "It handles ragged batches and says so. " * 5


@pytest.mark.parametrize(
    ("differing", "width", "lines"),
    [
        (Differing("overall", "80", ""), 60, ["overall: 80 here, – there"]),
        (Differing("summary", "", "so", prose=True), 60, ["summary: only there", "  there  so"]),
        (Differing("summary", "a", "b", prose=True), 60, ["summary:", "  here   a", "  there  b"]),
        (
            Differing("summary", f"{ALIKE}Or not.", f"{ALIKE}Always.", prose=True),
            40,
            ["summary:", "  here   …says so. Or not.", "  there  …says so. Always."],
        ),
        (
            Differing("summary", "a" * 50, "b" * 50, prose=True),
            30,
            ["summary:", f"  here   {'a' * 20}…", f"  there  {'b' * 20}…"],
        ),
    ],
    ids=["value", "one side", "short", "differ late", "long"],
)
def test_texts_are_cut_to_what_fits_from_where_they_differ(
    differing: Differing, width: int, lines: list[str]
) -> None:
    question = ConflictQuestion("The card", "u", [differing])
    assert question.details(width, 20) == lines


def test_what_does_not_fit_is_counted() -> None:
    texts = [Differing(f"text {n}", "a", "b", prose=True) for n in range(4)]
    question = ConflictQuestion("The card", "u", texts)
    assert question.details(60, 8)[-1] == "and 2 more"
    assert len(question.details(60, 12)) == 12


@pytest.mark.usefixtures("not_looking")
async def test_an_editor_of_the_matchup_says_so_too(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("M", "A")
        app.matchup.flush()
        path = workspace.matchups_path("kv", "anna")
        path.unlink()
        save_matchups(path, Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta"),)), None)
        await app.press("=", "a", *"Speed")
        assert isinstance(app.app.screen, CriterionEditor)
        await app.until(lambda: UNSAVED in app.text())


# undo


def test_undo_leaves_what_the_other_window_wrote(opened: Opener) -> None:
    first, second = opened(), opened()
    first.put_note(0, new_note("bug", "mine"))
    first.digit("8")
    first.flush()
    second.take_in(0)
    second.put_note(0, new_note("strength", "theirs"))
    second.set_text("theirs", index=0, row=second.rows[1])
    second.flush()
    first.take_in(0)
    assert first.undo() == "A: Correctness score, 8 → –"
    assert first.undo() == "A: bug note on the whole submission"
    assert [note.text for note in first.card.notes] == ["theirs"]
    assert (first.card.score("correctness"), first.card.comment("tests")) == (None, "theirs")
    # nothing of one's own is left
    assert first.undo() is None
    assert first.changes.foreign() == 0
    # all of it comes back in its order
    assert first.redo() == "A: bug note on the whole submission"
    assert first.redo() == "A: Correctness score, – → 8"
    assert sorted(note.text for note in first.card.notes) == ["mine", "theirs"]
    first.flush()
    second.take_in(0)
    assert second.undo() == "A: Tests comment"
    assert second.undo() == "A: strength note on the whole submission"
    assert [note.text for note in second.card.notes] == ["mine"]
    second.flush()
    # when it was saved is stamped on what is written, in another second perhaps
    saved = load_scorecard(second.paths[0])
    assert replace(saved, updated=second.card.updated) == second.card


@pytest.mark.parametrize("undone", [0, 1, 2])
def test_what_was_taken_back_from_under_another_window_is_so_after_a_restart(
    opened: Opener, undone: int
) -> None:
    first, second = opened(), opened()
    for text in ("one", "two"):
        first.put_note(0, new_note("bug", text))
        first.seal()
    first.flush()
    second.take_in(0)
    second.put_note(0, new_note("strength", "theirs"))
    second.close()
    first.take_in(0)
    for _ in range(undone):
        first.undo()
    said = first.card
    first.close()
    again = opened()
    assert again.card.notes == said.notes
    for text in ("one", "two")[2 - undone :]:
        assert again.redo() is not None
        assert text in [note.text for note in again.card.notes]
    assert len(again.card.notes) == 3
    for _ in range(2):
        assert again.undo() is not None
    assert [note.text for note in again.card.notes] == ["theirs"]


async def test_undo_over_a_change_of_another_window_says_whose_it_is_and_waits(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8", "5")
        app.compare.session.flush()
        path = workspace.scorecard_path("kv", "alpha", "anna")
        path.write_text(
            render_scorecard(
                load_scorecard(path).with_score("correctness", 40).with_note(new_note("bug", "theirs"))
            )
        )
        app.compare.parts.watching.disk_changed(frozenset({path}))
        assert app.compare.session.card.score("correctness") == 40
        # whoever presses it often takes nothing of theirs away
        await app.press("u", "u", "u")
        assert isinstance(app.app.screen, TheirsQuestion)
        for told in ("written over", "Correctness: 40 now, 85 before", "bug: theirs"):
            assert told in app.text()
        await app.press("escape")
        card = app.compare.session.card
        assert (card.score("correctness"), len(card.notes)) == (40, 1)
        await app.press("u", "t")
        card = app.compare.session.card
        assert (card.score("correctness"), len(card.notes)) == (85, 0)
        assert any("undone: A: as it was found on disk" in told for told in app.messages())
        await app.press("u")
        assert app.compare.session.card.score("correctness") is None
        await app.press("ctrl+r", "ctrl+r")
        assert app.compare.session.card.score("correctness") == 40


async def test_a_scorecard_that_somebody_deletes_is_asked_about_though_nothing_is_unsaved(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8")
        session = app.compare.session
        session.flush()
        path = session.paths[0]
        path.unlink()
        app.compare.parts.watching.disk_changed(frozenset({path}))
        await app.until(lambda: "press ! to settle" in app.text())
        assert session.card.score("correctness") == 8
        await app.press("exclamation_mark", "o")
        session.flush()
        assert load_scorecard(path).score("correctness") == 8


async def test_an_open_matchup_takes_in_what_another_window_saves(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "A")
        app.matchup.flush()
        path = workspace.matchups_path("kv", "anna")
        theirs = Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta", key_differentiator="speed"),))
        path.unlink()
        save_matchups(path, theirs, None)
        await app.until(lambda: app.matchup.matchup.winner == "beta")
        assert any("taken in" in told for told in app.messages())
        assert "speed" in app.text()
        assert not app.matchup.unsaved


async def test_in_the_list_of_notes_and_in_a_matchup_undo_asks_too(workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8", "M", "A")
        app.compare.session.flush()
        matchups = workspace.matchups_path("kv", "anna")
        app.matchup.flush()
    path.write_text(render_scorecard(load_scorecard(path).with_score("correctness", 40)))
    matchups.unlink()
    save_matchups(matchups, Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta"),)), None)
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("L", "u")
        assert isinstance(app.app.screen, TheirsQuestion)
        await app.press("t")
        assert app.compare.session.card.score("correctness") == 8
        await app.press("escape", "M", "u")
        assert isinstance(app.app.screen, TheirsQuestion)
        assert "winner: B Beta now, A Alpha before" in app.text()
        await app.press("t")
        assert app.matchup.matchup.winner == "alpha"
