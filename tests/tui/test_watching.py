"""Files that change on disk: the reader's place, the notes, and the checks."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.judging.scorecard import FileStamp, load_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code.line_map import LineMap
from judge_tui.tui.engine import file_watch
from judge_tui.tui.engine.file_watch import FileWatch, is_source

from .conftest import CODE, Driver, make_app, running

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "return"]), max_size=12)


@given(LINES, LINES)
def test_every_old_line_has_a_place_in_the_new_text_and_order_is_kept(old: list[str], new: list[str]) -> None:
    moved = LineMap(old, new)
    places = [moved(line) for line in range(len(old) + 2)]
    assert places == sorted(places)
    assert all(0 <= place <= max(len(new) - 1, 0) for place in places)


@given(LINES, LINES, LINES)
def test_lines_round_an_insertion_stay_with_their_text(
    head: list[str], put: list[str], tail: list[str]
) -> None:
    marked = [f"{line}{n}" for n, line in enumerate(head + tail)]
    old, new = marked, [*marked[: len(head)], *put, *marked[len(head) :]]
    moved = LineMap(old, new)
    assert [new[moved(line)] for line in range(len(old))] == old


def test_a_line_that_is_gone_leads_to_what_stands_in_its_place() -> None:
    moved = LineMap(["a", "b", "c", "d"], ["a", "d"])
    assert [moved(line) for line in range(4)] == [0, 1, 1, 1]
    assert LineMap(["a"] * 3, [])(2) == 0
    assert LineMap([f"{n}" for n in range(30_000)], [f"x{n}" for n in range(30_000)])(29_999) < 30_000


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("a.py", True),
        ("deep/a.cu", True),
        ("submission.toml", True),
        ("__pycache__/a.pyc", False),
        (".git/index", False),
        ("a.py~", False),
        (".a.py.swp", False),
        ("../other/a.py", False),
    ],
)
def test_what_editors_and_interpreters_leave_is_no_change(path: str, counts: bool) -> None:
    folder = Path("/w/submissions/alpha/kv")
    changed = Path("/w/submissions/alpha/other/a.py") if path.startswith("..") else folder / path
    assert is_source(folder, changed) is counts


def change(app: Driver, *names: str) -> None:
    folder = app.compare.panes[0].submission.path
    app.compare.parts.watching.disk_changed(frozenset(folder / name for name in names))


async def test_a_changed_file_is_read_again_round_the_reader(workspace: Workspace) -> None:
    path = workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py"
    path.write_text(CODE + "x = 1\n" * 200)
    async with running(make_app(workspace)) as app:
        await app.settle()
        pane, view = app.compare.panes[0], app.compare.panes[0].view
        await app.press(
            "colon", *"19", "enter", "a", "f4", *"sum", "escape", "colon", *"120", "enter", "v", "j"
        )
        above = view.rows.row_of(view.cursor) - view.scroll_offset.y
        path.write_text("import os\nimport sys\n" + CODE + "x = 1\n" * 200)
        change(app, "kv_cache.py")
        await app.until(lambda: pane.settled and view.source.lines[0] == "import os" and view.symbols)
        assert (view.selected_from, view.cursor) == (121, 122)
        assert view.rows.row_of(view.cursor) - view.scroll_offset.y == above
        assert view._marks[20].style == "error"
        await app.press("escape", "L", "enter")
        assert view.cursor == 20


async def test_checks_of_what_has_changed_run_again_or_wait_when_told_to(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        session, runner = app.compare.session, app.compare.runner
        change(app, "kv_cache.py")
        await app.until(lambda: any("changed on disk" in n.message for n in app.app._notifications))
        await app.settle()
        assert len(session.outcomes) == 6
        app.compare.parts.watching.reruns = False
        change(app, "helpers.py")
        await app.until(lambda: len(session.outcomes) == 3)
        assert {model for model, _ in session.outcomes} == {"beta"}
        assert not runner.active
        await app.press("c", "R")
        await app.until(lambda: len(session.outcomes) == 6)


async def test_a_file_that_is_gone_stays_in_view_and_says_so(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        pane = app.compare.panes[0]
        (pane.submission.path / "kv_cache.py").unlink()
        (pane.submission.path / "new.py").write_text("y = 2\n")
        change(app, "kv_cache.py", "new.py")
        await app.until(lambda: "gone from disk" in app.text())
        assert pane.source.lines[5] == "class Cache:"
        await app.press("full_stop")
        assert pane.file == "helpers.py"
        await app.press("full_stop")
        assert pane.source.lines == ["y = 2"]


async def test_a_file_that_is_renamed_stays_in_view_under_its_new_name(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        pane, view = app.compare.panes[0], app.compare.panes[0].view
        await app.until(lambda: pane.settled)
        folder = pane.submission.path
        await app.press("colon", *"6", "enter", "v", "j")
        (folder / "kv_cache.py").rename(folder / "cache.py")
        change(app, "kv_cache.py", "cache.py")
        await app.until(lambda: pane.file == "cache.py")
        assert (view.selected_from, view.cursor) == (5, 6)
        assert "A: kv_cache.py is cache.py now." in app.messages()
        await app.press("a", *"here", "escape")
        assert [note.file for note in app.compare.session.card.notes] == ["cache.py"]


async def test_of_two_files_that_say_the_same_none_is_taken_for_the_one_in_view(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (80, 24)) as app:
        pane = app.compare.panes[0]
        await app.until(lambda: pane.settled)
        folder = pane.submission.path
        (folder / "copy.py").write_text((folder / "kv_cache.py").read_text())
        (folder / "kv_cache.py").rename(folder / "cache.py")
        change(app, "kv_cache.py", "cache.py", "copy.py")
        await app.until(lambda: "gone from disk" in app.text() and pane.settled)
        assert pane.file == "kv_cache.py"


async def test_a_folder_that_goes_and_comes_back_is_followed(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        pane = app.compare.panes[0]
        folder = pane.submission.path
        away = folder.with_name("away")
        folder.rename(away)
        change(app, "")
        await app.until(lambda: "gone from disk" in app.text())
        assert pane.submission.files == ()
        assert pane.source.text.startswith(CODE)
        (away / "kv_cache.py").write_text("x = 2\n")
        away.rename(folder)
        change(app, "")
        await app.until(lambda: pane.source.text == "x = 2\n")
        assert "gone from disk" not in app.text()


async def test_a_submission_that_becomes_malformed_is_told_and_goes_on(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        pane = app.compare.panes[0]
        (pane.submission.path / "submission.toml").write_text("origin = [\n")
        change(app, "submission.toml")
        await app.until(lambda: any("not valid TOML" in n.message for n in app.app._notifications))
        assert pane.submission.meta.origin == "reconstruction"


async def test_the_system_tells_of_changes_until_the_watch_is_stopped(workspace: Workspace) -> None:
    app_ = make_app(workspace, engine=None)
    app_._options.watch = True
    async with running(app_) as app:
        await app.until(lambda: app.compare.parts.watching.watch is not None)
        pane = app.compare.panes[0]
        path = pane.submission.path / "kv_cache.py"
        count = 0

        def arrived() -> bool:
            # the watch begins some time after its thread: written until it is seen
            nonlocal count
            count += 1
            path.write_text(f"# {count}\n" + CODE)
            return pane.source.lines[0].startswith("# ")

        await app.until(arrived)
        await app.press("c", "F")
        assert any("wait for R" in note.message for note in app.app._notifications)
        watching = app.compare.parts.watching.watch
        assert watching is not None
        assert watching._thread.is_alive()
    assert not watching._thread.is_alive()
    assert not [thread for thread in threading.enumerate() if thread.name == "file watch"]


def score(path: Path, value: int) -> None:
    """Save a score as another window does."""
    save_scorecard(path, load_scorecard(path).with_score("tests", value), FileStamp.of(path.read_bytes()))


async def test_a_card_that_another_window_saves_is_shown_at_once(workspace: Workspace) -> None:
    app_ = make_app(workspace, engine=None)
    app_._options.watch = True
    async with running(app_) as app:
        await app.until(lambda: app.compare.parts.watching.watch is not None)
        session = app.compare.session
        await app.press("s", "c", "8", "5")
        session.flush()
        # the watch may begin after the first of them
        values = iter(range(20, 90))

        def arrived() -> bool:
            score(session.paths[0], next(values))
            return session.card.score("tests") is not None

        await app.until(arrived)
        assert "A: changed by another window, and taken in; u undoes what you changed here." in app.messages()
        assert "NOT SAVED" not in app.text()


async def test_a_card_that_is_deleted_on_disk_is_asked_about(workspace: Workspace) -> None:
    app_ = make_app(workspace, engine=None)
    app_._options.watch = True
    async with running(app_) as app:
        await app.until(lambda: app.compare.parts.watching.watch is not None)
        session = app.compare.session
        await app.press("s", "c", "8", "5")
        session.flush()
        values = iter(range(20, 90))

        def begun() -> bool:
            score(session.paths[0], next(values))
            return session.card.score("tests") is not None

        await app.until(begun)
        await app.until(lambda: session.unsaved() == ())
        session.paths[0].unlink()
        await app.until(lambda: "press ! to settle" in app.text())


async def test_a_card_is_not_taken_in_under_a_dialog_that_holds_its_words(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        session = app.compare.session
        path = session.paths[0]
        await app.press("s", "c", "8", "5", "enter", *"why")
        session.flush()
        score(path, 40)
        app.compare.parts.watching.disk_changed(frozenset({path}))
        assert session.card.score("tests") is None
        await app.press("escape")
        await app.until(lambda: session.card.score("tests") == 40)
        await app.until(lambda: "40" in app.text())
        await app.press("u")
        # what the other window wrote stays
        assert (session.card.score("tests"), session.card.comment("correctness")) == (40, "")
        session.flush()
        score(path, 50)
        await app.press("t", "9", "0", "enter")
        await app.until(lambda: "press ! to settle" in app.text())
        app.compare.parts.watching.disk_changed(frozenset({path}))
        assert session.card.score("tests") == 90


async def test_where_nothing_can_be_watched_that_is_said_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    app_ = make_app(workspace, engine=None)
    app_._options.watch = True
    async with running(app_) as app:
        await app.until(lambda: any("are not followed" in n.message for n in app.app._notifications))
        assert app.compare.parts.watching.watch is None


def test_the_watch_needs_its_library_only_when_it_begins() -> None:
    assert "watchfiles" not in vars(file_watch)
    assert FileWatch.__doc__
