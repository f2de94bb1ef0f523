"""Notes by keys: written beside lines, listed, copied, taken back, and kept apart from findings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual import events

from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code.source import Source
from judge_tui.tui.screens.evidence import EvidenceScreen
from judge_tui.tui.screens.note_editor import NoteEditor
from judge_tui.tui.screens.notes_list import NotesList
from judge_tui.tui.screens.picker import Picker

from .conftest import CODE, make_app, make_workspace, running


def card_path(workspace: Workspace, model: str = "alpha") -> Path:
    return workspace.scorecard_path("kv", model, "anna")


async def test_a_note_leaves_the_finding_of_its_line_in_view_and_within_reach(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("B", "right_curly_bracket", "a", "f4", *"why", "escape")
        view = app.compare.panes[1].view
        assert re.search(r"15✗◆", app.text())
        assert view.cursor == 14
        await app.press("enter")
        assert isinstance(app.app.screen, Picker)
        await app.press("down", "enter")
        assert isinstance(app.app.screen, EvidenceScreen)
        await app.press("escape", "enter", "enter")
        assert isinstance(app.app.screen, NoteEditor)
        # a note over the lines around it hides neither
        await app.press("escape", "k", "v", "j", "j", "a", "f2", *"all", "escape")
        assert re.search(r"15✗◆", app.text())
        assert re.search(r"14\+", app.text())


async def test_enter_on_a_fold_opens_what_stands_within_it(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[1].view
        await app.press("B", "colon", *"13", "enter", "minus")
        assert view.folds == {12: 14}
        assert re.search(r"13.?◆", app.text())
        await app.press("enter")
        assert isinstance(app.app.screen, EvidenceScreen)
        # one thing is opened, of several one is picked: those of the lines behind are none of them
        await app.press(
            "escape", "minus", "j", "a", "f4", *"within", "escape", *"jjjj", "a", "f2", *"behind", "escape"
        )
        await app.press("colon", *"13", "enter", "minus", "enter")
        picker = app.app.screen
        assert isinstance(picker, Picker)
        assert [choice.text for choice in picker._choices] == ["within", "accuracy"]
        assert "Lines 13–15" in app.text()
        await app.press("enter")
        assert isinstance(app.app.screen, NoteEditor)


async def test_a_note_is_anchored_to_the_selected_lines(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press(*"jjjjj", "v", "j", "j", "a")
        assert isinstance(app.app.screen, NoteEditor)
        await app.press("f4", *"broken", "escape")
        view = app.compare.panes[0].view
        assert view.selected_from is None
        assert view._marks[5].style == "error"
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.kind, note.text, note.file, note.lines) == ("bug", "broken", "kv_cache.py", (6, 8))
    assert note.quote == "\n".join(CODE.split("\n")[5:8])


async def test_a_note_that_is_written_at_once_loses_no_letter(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("a", "9", "space", *"bytes", "escape")
        [note] = app.compare.session.cards[0].notes
        assert (note.kind, note.text) == ("question", "9 bytes")
        await app.press("j", "a", "f4", *"bad", "escape")
        assert [(n.kind, n.text) for n in app.compare.session.cards[0].notes][-1] == ("bug", "bad")


async def test_a_note_without_text_is_no_note(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("a", "f3", "x", "backspace", "escape")
        assert app.compare.session.notes(0) == ()
        await app.until(lambda: "A note without text is none: nothing is kept." in app.messages())


@pytest.mark.parametrize("before", [(), ("shift+tab",)], ids=["kind", "severity"])
@pytest.mark.parametrize(
    "text", ["line one\nline two", "strong\nwords", "b", "1 bug", "    if indented:\n", "w"]
)
async def test_what_is_pasted_at_once_is_the_text_of_a_note_and_chooses_nothing(
    workspace: Workspace, text: str, before: tuple[str, ...]
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("a", *before)
        app.app.post_message(events.Paste(text))
        await app.until(lambda: app.compare.session.notes(0))
        await app.press("escape")
        [note] = app.compare.session.notes(0)
        assert (note.text, note.kind, note.severity) == (text, "question", "minor")


async def test_what_is_pasted_while_the_terminal_is_not_in_focus_arrives(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("a", *"one ")
        app.app.post_message(events.AppBlur())
        await app.until(lambda: not app.app.app_focus)
        app.app.post_message(events.Paste("two"))
        await app.until(lambda: [note.text for note in app.compare.session.notes(0)] == ["one two"])


async def test_a_note_on_a_file_that_is_still_being_read_quotes_no_line(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        pane = app.compare.panes[0]
        # as between opening a large file and its arrival
        pane.file = "large.py"
        pane.view.show(Source(b"reading"))
        await app.press("a", "f4", *"why", "escape")
        [note] = app.compare.session.notes(0)
        assert (note.file, note.lines, note.quote) == ("large.py", None, "")


async def test_notes_are_listed_edited_deleted_and_brought_back(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("j", "j", "a", "f2", *"neat", "escape", "G", "L")
        assert isinstance(app.app.screen, NotesList)
        await app.press("enter")
        assert app.compare.panes[0].view.cursor == 2
        await app.press("L", "e", *"er", "escape")
        assert [note.text for note in app.compare.session.notes(0)] == ["neater"]
        # back in the list, on the note that was edited
        assert isinstance(app.app.screen, NotesList)
        await app.press("d")
        assert app.compare.session.notes(0) == ()
        await app.press("u", "escape")
        assert [note.text for note in app.compare.session.notes(0)] == ["neater"]


@pytest.mark.parametrize(
    ("at", "here", "there"),
    # a method that both have, and a function that the other lacks
    [("12j", "kv_cache.py:13–14", "kv_cache.py:14–15"), ("17j", "kv_cache.py:18–19", "")],
)
async def test_a_note_is_copied_to_the_lines_that_answer_its_own(
    workspace: Workspace, at: str, here: str, there: str
) -> None:
    code = "# a line more\n" + CODE.partition("def attend")[0]
    (workspace.submission("beta", "kv").path / "kv_cache.py").write_text(code)
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("semicolon", *at, "v", "j", "a", "f7", "f4", *"wrong place", "escape", "L", "c")
        await app.until(lambda: isinstance(app.app.screen, NotesList) and app.compare.session.notes(1))
        # the copy is the next row
        await app.press("j", "e", *" too", "escape")
        assert isinstance(app.app.screen, NotesList)
        (own,), (copied,) = (app.compare.session.notes(index) for index in (0, 1))
    assert (own.kind, own.severity, own.text) == ("bug", "major", "wrong place")
    assert (copied.kind, copied.severity, copied.text) == ("bug", "major", "wrong place too")
    assert (own.where, copied.where) == (here, there)


async def test_a_note_of_a_file_out_of_view_that_has_changed_is_copied_by_where_it_stands_now(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("semicolon", *"12j", "a", "f4", *"wrong place", "escape", ".")
        path = workspace.submission("alpha", "kv").path / "kv_cache.py"
        path.write_text("# one\n# two\n# three\n" + path.read_text())
        app.compare.parts.watching.disk_changed({path})
        await app.until(lambda: app.compare.panes[0].settled)
        await app.press("L", "c")
        await app.until(lambda: bool(app.compare.session.notes(1)))
        (copied,) = app.compare.session.notes(1)
        assert copied.where == "kv_cache.py:13"
        assert copied.quote.strip() == "def update(self, at: int, key: float) -> None:"


async def test_of_three_submissions_the_judge_says_which_one_takes_the_copy_and_goes_on_in_the_list(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    async with running(make_app(three, ("alpha", "beta", "gamma"))) as app:
        await app.settle()
        for text in ("slow", "odd"):
            await app.press("a", "f3", *text, "escape", "j")
        await app.press("L")
        counts = [2, 0, 0]
        for keys in (("c", "down", "enter"), ("j", "c", "enter"), ("c", "escape")):
            await app.press(*keys[:-1])
            assert "enter copies it" in app.text()
            await app.press(keys[-1])
            counts[2] += "down" in keys
            counts[1] += keys[0] == "j"
            await app.until(lambda: isinstance(app.app.screen, NotesList))
            assert [len(app.compare.session.notes(index)) for index in range(3)] == counts
        # back on the note that was copied, so that the one below was next
        assert [app.compare.session.notes(index)[0].text for index in (1, 2)] == ["odd", "slow"]


async def test_the_lines_of_a_note_stay_selected_while_it_is_written(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("v", "j", "j", "a")
        assert app.compare.panes[0].view.selection == (0, 2)
        await app.press("s", "x", "escape")
        assert app.compare.panes[0].view.selected_from is None
        assert "selected" not in app.text()


async def test_kind_and_severity_are_chosen_by_mouse_too(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("a", "f2", "x")
        screen = app.app.screen
        for line, word in (("#kind", "question"), ("#severity", "major")):
            choice = screen.query_one(line)
            at = choice.render_line(0).text.index(word)
            await app.pilot.click(choice, offset=(at, 0))
            await app.pilot.pause()
        note = app.compare.session.notes(0)[0]
        assert (note.kind, note.severity) == ("question", "major")


async def test_a_note_on_lines_that_no_file_has_marks_those_that_there_are(workspace: Workspace) -> None:
    path = card_path(workspace)
    path.parent.mkdir(parents=True)
    note = '[[notes]]\nkind = "bug"\ntext = "all"\nfile = "kv_cache.py"\nlines = [{}, 9000000000000]\n'
    head = 'schema = 1\ntask = "kv"\nmodel = "alpha"\njudge = "anna"\n'
    path.write_text(head + note.format(3) + note.format(8_000_000_000))
    async with running(make_app(workspace, engine=None)) as app:
        view = app.compare.panes[0].view
        await app.until(lambda: view.symbols and view._marks)
        assert sorted(view._marks) == list(range(2, len(app.compare.panes[0].source)))
        await app.press("L", "enter")
        assert view.cursor == 2


async def test_a_note_whose_lines_have_changed_says_so_in_the_gutter_in_the_list_and_where_it_is_opened(
    workspace: Workspace,
) -> None:
    file = workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py"
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("colon", *"15", "enter", "a", "f4", *"misplaced", "escape")
        await app.press("colon", *"19", "enter", "a", "f3", *"kept", "escape")
    file.write_text("# a head\n" + file.read_text().replace("self.keys[at] = key", "self.keys[at] += key"))
    async with running(make_app(workspace)) as app:
        await app.settle()
        assert re.search(r" 16≠", app.text())
        assert re.search(r" 20−", app.text()), "what is found again is marked where it stands, as ever"
        await app.press("L")
        listed = app.app.screen
        assert isinstance(listed, NotesList)
        await app.until(lambda: "lines changed" in app.text())
        gone, kept = (line for line in app.text().split("\n") if "kv_cache.py:" in line)
        assert re.search(r"kv_cache\.py:16 +≠ lines changed since  misplaced", gone)
        assert re.search(r"kv_cache\.py:20 +kept", kept), "where it stands now"
        await app.press("e")
        await app.until(lambda: isinstance(app.app.screen, NoteEditor))
        assert "kv_cache.py:16 · ≠ lines changed since" in app.text()
        assert any("what it quotes is gone from the file" in told for told in app.messages())
        await app.press("escape", "escape", "colon", *"16", "enter", "enter")
        assert "kv_cache.py:16 · ≠ lines changed since" in app.text()


async def test_a_note_on_a_file_that_is_gone_or_was_never_there_is_told_in_the_list(
    workspace: Workspace,
) -> None:
    path = card_path(workspace)
    path.parent.mkdir(parents=True)
    path.write_text(
        'schema = 1\ntask = "kv"\nmodel = "alpha"\njudge = "anna"\n'
        '[[notes]]\nkind = "bug"\ntext = "lost"\nfile = "../../../etc/passwd"\nlines = [1, 2]\nquote = "x"\n'
        '[[notes]]\nkind = "bug"\ntext = "whole"\nfile = "kv_cache.py"\n'
    )
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("L")
        await app.until(lambda: "no longer there" in app.text())
        assert app.text().count("no longer there") == 1
        await app.press("enter")
        assert app.messages() == ["../../../etc/passwd is not among the files."]


async def test_a_note_is_found_again_where_line_ends_and_indentation_have_changed(
    workspace: Workspace,
) -> None:
    file = workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py"
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("colon", *"14", "enter", "v", "j", "a", "f4", *"both", "escape")
    lines = file.read_text().split("\n")
    file.write_bytes("\r\n".join(["# one", *("  " + line for line in lines)]).encode())
    async with running(make_app(workspace)) as app:
        await app.settle()
        assert re.search(r" 15✗", app.text())
        code = app.text().split("\n")[: app.compare.checks_pane.region.y]
        assert not any("≠" in line for line in code)
