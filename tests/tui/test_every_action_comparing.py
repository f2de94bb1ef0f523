"""Every action of a comparison, pressed by its key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judge_tui.judging.scorecard import load_scorecard, render_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.widgets.key_hints import KeyHints

from .conftest import HANGING, LONG_LINE, THREE, Driver, make_app, running
from .test_backend_key import engine_of
from .tour import (
    LESS,
    MORE,
    OTHER,
    Step,
    again,
    conflicts,
    cursor,
    focused,
    kind,
    left,
    line,
    notes,
    pane,
    part,
    picked,
    resized,
    row,
    score,
    screen,
    searching,
    selected,
    selecting,
    severity,
    told,
    top,
    tour,
    view,
)


async def other_window(app: Driver) -> None:
    """Another window changes a score, and this one changes it too."""
    session = app.compare.session
    session.flush()
    path, card = session.paths[0], load_scorecard(session.paths[0])
    theirs = 30 + (card.score("correctness") or 0) % 7
    path.write_text(render_scorecard(card.with_score("correctness", theirs + 1)))
    await app.press("s", "c", "backspace", "4", "1" if score(app) != 41 else "2")
    await app.until(lambda: app.compare.parts.saving.conflicts)


async def other_window_twice(app: Driver) -> None:
    """Another window changes a score and a comment, and this one changes both too."""
    await other_window(app)
    session = app.compare.session
    path, card = session.paths[0], load_scorecard(session.paths[0])
    path.write_text(render_scorecard(card.with_comment("correctness", f"theirs {card.score('correctness')}")))
    session.set_text(f"mine {session.card.score('correctness')}", index=0, row=session.rows[0])
    session.flush()


CODE_STEPS: Sequence[Step] = (
    ("code.line-down", cursor, 1),
    ("code.line-up", cursor, 0),
    ("code.half-a-page-down", cursor, MORE),
    ("code.page-down", top, MORE),
    ("code.scroll-a-line-down", top, MORE),
    ("code.scroll-a-line-up", top, LESS),
    ("code.half-a-page-up", cursor, LESS),
    ("code.page-up", top, LESS),
    ("code.last-line", cursor, MORE),
    ("code.first-line", cursor, 0),
    ("code.next-function", cursor, 5),
    ("code.fold-or-unfold", lambda a: bool(view(a).folds), True),
    ("minus", "right_square_bracket"),
    ("code.previous-function", cursor, 5),
    ("code.fold-or-unfold-all-functions", lambda a: len(view(a).folds), MORE),
    ("underscore",),
    ("code.wrap-long-lines", lambda a: view(a).wrapped, True),
    ("w",),
    ("code.show-tabs-and-trailing-blanks", lambda a: view(a).whitespace, True),
    ("code.scroll-right", left, 8),
    ("code.scroll-left", left, 0),
    ("colon", *LONG_LINE, "enter"),
    ("code.end-of-the-line", left, MORE),
    ("code.start-of-the-line", left, 0),
    ("code.back-to-where-a-jump-came-from", cursor, LESS),
    ("code.forward-again", cursor, MORE),
    ("g",),
    ("code.select-lines", selecting, True),
    ("code.select-downwards", selected, 1),
    ("code.select-upwards", selected, 0),
    ("J",),
    ("code.copy-the-lines", lambda a: a.app.clipboard, '"""A cache."""\n\n'),
    # a copy leaves no selection
    ("J",),
    ("code.drop-selection-and-search", selecting, False),
    ("counts.begin", lambda a: a.compare.query_one(KeyHints)._count, ";"),
    ("escape",),
)

SEARCH_STEPS: Sequence[Step] = (
    ("everywhere.search", searching, True),
    (*"f_.",),
    ("search.regular-expression", lambda a: len(view(a).hits), MORE),
    ("search.keep-the-hits", searching, False),
    ("code.next-match", cursor, MORE),
    ("code.previous-match", cursor, LESS),
    ("slash",),
    ("search.drop-the-hits", lambda a: len(view(a).hits), 0),
)

PLACES_STEPS: Sequence[Step] = (
    ("g",),
    (
        "code.set-a-bookmark-or-take-it-away",
        lambda a: len(a.compare.parts.bookmarks.of(a.compare.panes[0])),
        1,
    ),
    ("j", "j", "b", "g", "j"),
    ("code.next-bookmark-in-any-file", cursor, 2),
    ("code.previous-bookmark-in-any-file", cursor, 0),
    ("code.list-of-the-bookmarks", screen, "Picker"),
    ("picker.next", picked, MORE),
    ("picker.previous", picked, LESS),
    ("picker.close", screen, "CompareScreen"),
    ("code.go-to-a-line-by-its-number", screen, "LinePrompt"),
    ("1", "9"),
    ("line.go-there", cursor, 18),
    ("code.to-the-definition-of-what-this-line-uses", cursor, LESS),
    ("colon",),
    ("line.close", screen, "CompareScreen"),
    ("everywhere.files", screen, "Picker"),
    ("up",),
    ("picker.go-there", lambda a: a.compare.panes[0].file, OTHER),
    ("everywhere.next-file", lambda a: a.compare.panes[0].file, OTHER),
    ("everywhere.previous-file", lambda a: a.compare.panes[0].file, OTHER),
    ("full_stop",),
    ("everywhere.symbols", screen, "Picker"),
    ("escape",),
)

NOTE_STEPS: Sequence[Step] = (
    ("colon", "1", "2", "enter"),
    ("everywhere.note-on-the-lines", screen, "NoteEditor"),
    ("editor.next-field", focused, "kind"),
    ("note.choice-behind", kind, "strength"),
    ("note.choice-before", kind, "question"),
    ("note.on-to-the-text", focused, "NoteArea"),
    ("editor.previous-field", focused, "severity"),
    ("note.critical", severity, "critical"),
    ("note.minor", severity, "minor"),
    ("note.major", severity, "major"),
    ("note.bug", kind, "bug"),
    ("note.question", kind, "question"),
    ("note.strength", kind, "strength"),
    ("note.weakness", kind, "weakness"),
    (*"vague",),
    ("editor.done-kept", screen, "CompareScreen"),
    ("g",),
    ("code.next-note-or-finding", cursor, 11),
    ("G",),
    ("code.previous-note-or-finding", cursor, 11),
    ("g",),
    ("code.next-note-in-any-file", cursor, 11),
    ("G",),
    ("code.previous-note-in-any-file", cursor, 11),
    ("everywhere.notes", screen, "NotesList"),
    ("notes.edit", screen, "NoteEditor"),
    ("escape",),
    ("notes.delete", notes, 0),
    ("notes.undo", notes, 1),
    ("notes.redo", notes, 0),
    ("u",),
    ("notes.say-where-it-is", screen, "Picker"),
    ("escape",),
    ("notes.copy-to-another-submission", screen, "Picker"),
    # back in the list
    ("escape",),
    ("sheet.help", screen, "HelpScreen"),
    ("help.back", screen, "NotesList"),
    ("notes.back", screen, "CompareScreen"),
    ("g", "L"),
    ("lists.open", cursor, 11),
)

CHECK_STEPS: Sequence[Step] = (
    ("everywhere.code-pane-b", pane, 1),
    ("code.next-finding-in-any-file", cursor, 14),
    ("G",),
    ("code.previous-finding-in-any-file", cursor, 14),
    ("code.open-the-note-or-finding-of-this-line", screen, "EvidenceScreen"),
    ("evidence.copy-the-command-that-replays-it", lambda a: a.app.clipboard, OTHER),
    ("evidence.back", screen, "CompareScreen"),
    ("everywhere.checks", part, "checks"),
    ("checks.the-submission-at-the-right", lambda a: a.compare.checks_pane.rows.cell[0], "gamma"),  # type: ignore[index]
    ("checks.the-submission-at-the-left", lambda a: a.compare.checks_pane.rows.cell[0], "beta"),  # type: ignore[index]
    ("checks.side-by-side-or-as-a-list", lambda a: len(a.compare.checks_pane.rows.keys), 9),
    ("lists.last-row", row, 8),
    ("lists.first-row", row, 0),
    ("lists.row-down", row, 1),
    ("lists.row-up", row, 0),
    ("lists.page-down", row, MORE),
    ("lists.page-up", row, LESS),
    ("g",),
    ("checks.jump-to-line", part, "code"),
    ("c",),
    ("checks.evidence", screen, "EvidenceScreen"),
    ("evidence.jump-to-line", part, "code"),
    ("c",),
    ("checks.one-submission", lambda a: len(a.compare.checks_pane.rows.keys), 3),
    ("w", "w", "w"),
    ("checks.one-verdict", lambda a: len(a.compare.checks_pane.rows.keys), LESS),
    ("v", "v"),
    ("checks.where-they-differ", screen, "DifferencesScreen"),
    ("differences.all-checks", lambda a: len(a.app.screen.rows.keys), MORE),  # type: ignore[attr-defined]
    ("g",),
    ("differences.evidence-of-a", screen, "EvidenceScreen"),
    ("q", "d"),
    ("differences.evidence-of-b", screen, "EvidenceScreen"),
    ("q", "d"),
    ("differences.evidence-of-c", screen, "EvidenceScreen"),
    ("q", "d"),
    ("differences.back", screen, "CompareScreen"),
    ("checks.run-again-when-files-change-or-not", lambda a: a.compare.parts.watching.reruns, False),
    ("checks.run-again", again, 1),
    ("checks.run-all-again", again, 9),
    Driver.settle,
    ("checks.next-backend", lambda a: a.compare.options.backend, OTHER),
    Driver.settle,
    ("everywhere.back-to-the-code", part, "code"),
)

SCREEN_STEPS: Sequence[Step] = (
    ("everywhere.code-pane-c", pane, 2),
    ("everywhere.code-pane-a", pane, 0),
    ("everywhere.next-pane", pane, 1),
    ("everywhere.previous-pane", pane, 0),
    ("everywhere.zoom-this-part", lambda a: a.compare.parts.layout.wishes.zoom, "code"),
    ("z",),
    ("everywhere.move-together-by-line-by-function", lambda a: a.compare.parts.sync.way, "lines"),
    ("y", "y"),
    ("everywhere.rubric-on-off", lambda a: a.compare.parts.layout.arrangement.rubric, OTHER),
    ("f2",),
    ("everywhere.checks-on-off", lambda a: a.compare.parts.layout.arrangement.checks, OTHER),
    ("f3",),
    ("everywhere.files-and-symbols-on-off", lambda a: a.compare.parts.layout.arrangement.sidebar, OTHER),
    ("f4",),
    ("everywhere.one-code-pane-at-a-time", lambda a: len(a.compare.parts.layout.arrangement.panes), OTHER),
    ("t",),
    ("everywhere.this-part-larger", lambda a: a.compare.panes[0].size.width, MORE),
    ("everywhere.this-part-smaller", lambda a: a.compare.panes[0].size.width, LESS),
    ("T",),
    ("everywhere.all-sizes-back", lambda a: a.compare.panes[0].size.width, MORE),
    ("colon", "1", "9", "enter"),
    ("everywhere.differences-of-this-function", screen, "DiffScreen"),
    ("diff.next-difference", row, 1),
    ("n",),
    ("diff.previous-difference", row, 1),
    ("diff.scroll-right", lambda a: a.app.screen.focused._left, MORE),  # type: ignore[union-attr]
    ("diff.scroll-left", lambda a: a.app.screen.focused._left, 0),  # type: ignore[union-attr]
    ("diff.back", screen, "CompareScreen"),
    ("everywhere.help", screen, "HelpScreen"),
    ("escape",),
    ("program.all-actions-by-their-names", screen, "CommandPalette"),
    ("escape",),
    ("everywhere.matchup", screen, "MatchupScreen"),
    ("escape",),
    ("everywhere.report", screen, "ReportScreen"),
    ("escape",),
    ("everywhere.export-the-scoreboard", screen, "ExportPrompt"),
    ("export.close", screen, "CompareScreen"),
)

RUBRIC_STEPS: Sequence[Step] = (
    ("everywhere.score", part, "rubric"),
    ("rubric.line-down", line, 1),
    ("rubric.line-up", line, 0),
    ("c", "8", "5"),
    ("rubric.one-more", score, 86),
    ("rubric.one-less", score, 85),
    ("rubric.take-the-score-away", score, None),
    ("everywhere.undo", score, 85),
    ("everywhere.redo", score, None),
    ("rubric.comment", screen, "TextEditor"),
    ("escape",),
    ("rubric.next-unscored", lambda a: (a.compare.session.scored, line(a)), OTHER),
    ("rubric.switch-a-b", lambda a: a.compare.session.scored, OTHER),
    ("rubric.previous-submission", lambda a: a.compare.session.scored, OTHER),
    ("rubric.overall", line, MORE),
    ("rubric.summary", line, MORE),
    ("k", "k", "k", "k"),
    resized(100, 16),
    ("rubric.read-on", lambda a: a.compare.rubric_pane.lines.scroll_offset.y, MORE),
    ("rubric.read-back", lambda a: a.compare.rubric_pane.lines.scroll_offset.y, 0),
    resized(120, 30),
    other_window,
    ("everywhere.settle-a-conflict-of-two-windows", screen, "ConflictQuestion"),
    ("question.later", screen, "CompareScreen"),
    ("exclamation_mark",),
    ("conflict.keep-what-is-on-this-screen", conflicts, 0),
    other_window,
    ("exclamation_mark",),
    ("conflict.load-what-the-other-window-saved", conflicts, 0),
    other_window_twice,
    ("exclamation_mark",),
    ("conflict.keep-this-screen-s-in-all-that-is-left", conflicts, 0),
    other_window_twice,
    ("exclamation_mark",),
    ("conflict.load-the-other-s-in-all-that-is-left", conflicts, 0),
    ("program.leave-the-program", lambda a: a.app._exit, True),
)


async def test_the_keys_of_a_comparison(three: Workspace) -> None:
    async with running(make_app(three, THREE, engine_of("gpu", "cpu")), (120, 30)) as app:
        await app.settle()
        await tour(app, CODE_STEPS)
        await tour(app, SEARCH_STEPS)
        await tour(app, PLACES_STEPS)
        await tour(app, NOTE_STEPS)
        await tour(app, CHECK_STEPS)
        await tour(app, SCREEN_STEPS)
        await tour(app, RUBRIC_STEPS)


BLOCKED_STEPS: Sequence[Step] = (
    ("c",),
    ("checks.cancel", lambda a: a.compare.runner.active, False),
    ("s", "c", "8"),
    ("everywhere.quit", screen, "LeaveQuestion"),
    ("escape",),
    ("everywhere.save-now", told, MORE),
    ("q",),
    ("leave.leave-all-the-same", lambda a: a.app._exit, True),
)


async def test_the_keys_of_a_comparison_that_cannot_be_saved(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    async with running(make_app(workspace, engine=HANGING)) as app:
        await app.until(lambda: app.compare.runner.active)
        (workspace.root / "scores" / "kv").write_text("in the way")
        await tour(app, BLOCKED_STEPS)


REVEAL_STEPS: Sequence[Step] = (
    ("s", "c", "8", "5", "t", "7", "0", "w", "c", "6", "0", "t", "9", "0"),
    ("everywhere.reveal-the-names-of-a-blind-comparison", screen, "RevealQuestion"),
    ("reveal.reveal-the-names-now", lambda a: a.compare.session.blindfold.active, False),
)


async def test_the_key_that_reveals(workspace: Workspace) -> None:
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(workspace, submissions, "anna", blind=True)) as app:
        await tour(app, REVEAL_STEPS)
