"""Where notes are after the code has changed: at the right line, or marked and asked about."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from judge_tui.judging.export import scoreboard_markdown
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.desk import placements
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.screens.note_editor import NoteEditor
from judge_tui.tui.screens.notes_list import NotesList
from judge_tui.tui.screens.picker import Picker

from .conftest import Driver, make_app, running

SIX = "".join(f"def f{n}(x):\n    out = x * {n}\n    return out\n\n\n" for n in range(1, 7))
F4 = "def f4(x):\n    out = x * 4\n    return out\n\n\n"
HEAD = "# 1\n# 2\n# 3\n# 4\n"


@pytest.fixture
def code(workspace: Workspace) -> Path:
    """A file of six functions that all end in the same line."""
    file = workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py"
    file.write_text(SIX)
    return file


def card_path(workspace: Workspace) -> Path:
    return workspace.scorecard_path("kv", "alpha", "anna")


async def settled(app: Driver) -> None:
    """Wait until every file in view is read, and the notes are found."""
    await app.until(lambda: all(pane.file and pane.settled for pane in app.compare.panes))


async def noted(app: Driver, line: str = "18") -> None:
    """Write a note on a line of the first submission."""
    await settled(app)
    await app.press("A", "colon", *line, "enter", "a", "f4", *"broken", "escape")
    await app.until(lambda: app.compare.panes[0].settled)


async def changed(app: Driver, file: Path, text: str) -> None:
    """Somebody else writes the file."""
    file.write_text(text)
    app.compare.parts.watching.disk_changed({file})
    await settled(app)


async def test_a_note_stays_by_its_line_while_the_file_is_edited(workspace: Workspace, code: Path) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
        await changed(app, code, HEAD + SIX)
        await app.until(lambda: re.search(r"22✗", app.text()))
        assert "≈" not in app.text()
        await app.press("L")
        assert "kv_cache.py:22 " in app.text()


async def test_a_note_stays_by_its_line_over_a_restart_on_screen_board_and_list(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
    code.write_text(HEAD + SIX)
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        await app.until(lambda: re.search(r"22✗", app.text()))
        await app.press("L")
        assert "kv_cache.py:22 " in app.text()
    # nothing was written for it, and the board says the same
    assert load_scorecard(card_path(workspace)).notes[0].lines == (18, 18)
    assert "(kv\\_cache.py:22)" in scoreboard_markdown(workspace)


async def test_a_note_whose_function_is_gone_is_marked_and_its_judge_is_asked_where_it_is(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
        await app.press("g", "g")
        await changed(app, code, SIX.replace(F4, ""))
        assert not re.search(r"\d✗", app.text()), "on no line as if nothing had happened"
        await app.press("L")
        await app.until(lambda: "≠ lines changed" in app.text() or "≈ place in doubt" in app.text())
        await app.press("p")
        await app.until(lambda: isinstance(app.app.screen, Picker))
        assert "Where is this note of A? broken" in app.text()
        assert "It is in none of them" in app.text()
        # the line that the cursor was on is among the answers
        assert re.search(r"1  def f1\(x\): +kv_cache\.py", app.text())


async def test_of_places_that_fit_equally_one_is_chosen_and_undo_takes_the_choice_back(
    workspace: Workspace, code: Path
) -> None:
    block = "x = 1\ny = 2\n\n"
    code.write_text(block * 5)
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app, "4")
    code.write_text(block * 4)
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        await app.until(lambda: re.search(r" 4≈", app.text()))
        assert "place in doubt" in scoreboard_markdown(workspace)
        await app.press("colon", "4", "enter", "enter")
        await app.until(lambda: isinstance(app.app.screen, Picker))
        told = [(choice.text, choice.aside) for choice in app.app.screen._choices]
        assert told[:4] == [(f"{line}  x = 1", "kv_cache.py") for line in (1, 4, 7, 10)]
        # on the likeliest, which is where it was
        await app.press("down", "enter")
        await app.until(lambda: re.search(r" 7✗", app.text()))
        await app.press("u")
        await app.until(lambda: re.search(r" 4≈", app.text()))
        await app.press("ctrl+r")
        await app.until(lambda: re.search(r" 7✗", app.text()))
    [note] = load_scorecard(card_path(workspace)).notes
    assert note.lines == (7, 7)
    assert "(kv\\_cache.py:7)" in scoreboard_markdown(workspace)


async def test_a_note_that_is_nowhere_stays_on_the_file_as_a_whole(workspace: Workspace, code: Path) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
        await changed(app, code, "print('another program')\n")
        await app.press("L", "p")
        await app.until(lambda: isinstance(app.app.screen, Picker))
        await app.press(*"none of", "enter")
        await app.until(lambda: isinstance(app.app.screen, NotesList))
        assert re.search(r"kv_cache\.py +broken", app.text())
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.file, note.lines, note.quote) == ("kv_cache.py", None, "")


@pytest.mark.parametrize("live", [True, False])
async def test_a_note_goes_with_its_file_to_another_name(
    workspace: Workspace, code: Path, live: bool
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
        if live:
            code.rename(code.with_name("renamed.py"))
            code.write_text("def other(x):\n    out = x\n    return out\n")
            app.compare.parts.watching.disk_changed({code, code.with_name("renamed.py")})
            await app.until(lambda: app.compare.panes[0].settled)
            await app.press("L")
            await app.until(lambda: "renamed.py:18" in app.text())
    if not live:
        code.rename(code.with_name("renamed.py"))
        code.write_text("def other(x):\n    out = x\n    return out\n")
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        await app.press("L")
        await app.until(lambda: "renamed.py:18" in app.text())
        await app.press("enter")
        pane = app.compare.panes[0]
        await app.until(lambda: (pane.file, pane.view.cursor) == ("renamed.py", 17))
    assert "(renamed.py:18)" in scoreboard_markdown(workspace)


async def test_an_old_card_gains_what_stands_around_its_notes_when_it_is_saved(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
    path = card_path(workspace)
    # as it was written until now
    old = re.sub(r"\n\[notes\.context\]\n.*?(?=\n\[|\Z)", "", path.read_text(), flags=re.S)
    assert "context" not in old
    path.write_text(old)
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        await app.until(lambda: re.search(r"18✗", app.text()))
        assert path.read_text() == old, "it is not written for being looked at"
        await app.press("L", "e", *" badly", "escape", "escape")
    [note] = load_scorecard(path).notes
    assert note.text == "broken badly"
    assert note.context is not None
    assert (note.context.within, note.context.before[0]) == ("f4", "out = x * 4")


async def test_an_old_note_in_doubt_stays_in_doubt_when_its_card_is_saved_on_other_files(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
    path = card_path(workspace)
    path.write_text(re.sub(r"\n\[notes\.context\]\n.*?(?=\n\[|\Z)", "", path.read_text(), flags=re.S))
    code.write_text("# 1\n" * 5 + SIX)
    for _ in range(2):
        async with running(make_app(workspace, engine=None)) as app:
            await settled(app)
            await app.until(lambda: re.search(r"\d≈", app.text()))
            # the card is of these files from now on
            await app.press("c", "8", "0")
    assert "in doubt" in scoreboard_markdown(workspace)


async def test_notes_are_looked_for_beside_the_screen(
    workspace: Workspace, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[str] = set()

    def told(*args: object, **kwargs: object) -> object:
        threads.add(threading.current_thread().name)
        return place(*args, **kwargs)  # type: ignore[arg-type]

    place = placements.place
    monkeypatch.setattr(placements, "place", told)
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
        await changed(app, code, HEAD + SIX)
        await app.press("L")
    assert threads == {"background"}


@pytest.mark.parametrize("size", [(80, 24), (30, 8)])
async def test_the_question_has_room_on_narrow_terminals(
    workspace: Workspace, code: Path, size: tuple[int, int]
) -> None:
    block = "x = 1\ny = 2\n\n"
    code.write_text(block * 5)
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app, "4")
    code.write_text(block * 4)
    async with running(make_app(workspace, engine=None), size) as app:
        await settled(app)
        await app.press("L")
        session = app.compare.session
        await app.until(lambda: session.placed(0, session.notes(0)[0]).standing == "doubt")
        await app.press("p")
        await app.until(lambda: isinstance(app.app.screen, Picker) and "4  x = 1" in app.text())
        assert "Where is this note" in app.text()
        await app.press("enter")
        await app.until(lambda: isinstance(app.app.screen, NotesList))
        assert app.compare.session.notes(0)[0].lines == (4, 4)


async def test_the_note_that_is_edited_after_its_file_has_changed_says_the_lines_of_now(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app)
        await changed(app, code, HEAD + SIX)
        await app.press("L", "e")
        await app.until(lambda: isinstance(app.app.screen, NoteEditor))
        assert "kv_cache.py:22" in app.text()
        await app.press(*"!", "escape", "escape")
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.text, note.lines) == ("broken!", (22, 22))
    assert note.context is not None
    assert note.context.within == "f4"


async def test_names_are_hidden_in_the_question_while_they_are_in_the_screen(
    workspace: Workspace, code: Path
) -> None:
    block = "alpha = 1\ny = 2\n\n"
    code.write_text(block * 5)
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app, "4")
    code.write_text(block * 4)
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(workspace, submissions, "anna", EngineOptions(), blind=True)) as app:
        await settled(app)
        await app.press("L")
        await app.until(lambda: "place in doubt" in app.text())
        await app.press("p")
        await app.until(lambda: isinstance(app.app.screen, Picker))
        assert "alpha" not in app.text().lower()


# what became of lines while the screen was open

#: The fourth function is written anew between others that are, too: nothing that stood there tells where.
ANEW = SIX.replace(
    F4, "def g4(y):\n    total = 0\n    for each in y:\n        total += each\n    return total\n\n\n"
)
ALONE = ANEW.replace("def f3(x):\n    out = x * 3\n    return out", "def g3(y):\n    return sum(y)").replace(
    "def f5(x):\n    out = x * 5\n    return out", "def g5(y):\n    return max(y)"
)


async def followed(app: Driver, code: Path) -> tuple[int, int]:
    """A note whose lines become others, then those around them too; where it stands by then."""
    await noted(app, "17")
    await changed(app, code, SIX.replace("    out = x * 4\n", "    total = sum(x)\n"))
    await changed(app, code, HEAD + ALONE.replace("    total = 0\n", "    total = sum(x)\n"))
    session = app.compare.session
    await app.until(lambda: session.placed(0, session.notes(0)[0]).standing == "changed")
    [note] = session.notes(0)
    placed = session.placed(0, note)
    assert placed.note.lines is not None
    await app.until(lambda: not session.unsaved())
    return placed.note.lines


async def test_where_lines_went_that_say_something_else_is_known_after_leaving(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        first, _ = await followed(app, code)
        assert code.read_text().split("\n")[first - 1] == "    total = sum(x)"
        await app.press("q")
    # one's own words stay what they were
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.quote, note.lines) == ("    out = x * 4", (17, 17))
    for _ in range(2):
        async with running(make_app(workspace, engine=None)) as app:
            await settled(app)
            await app.until(lambda at=first: re.search(rf" {at}≠", app.text()))
            await app.press("L")
            assert f"kv_cache.py:{first} " in app.text()
        assert f"(kv\\_cache.py:{first}, lines changed since)" in scoreboard_markdown(workspace)
        # and goes on with them
        code.write_text("# more\n" + code.read_text())
        first += 1


async def test_a_note_whose_own_lines_are_back_stands_there_unmarked(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await followed(app, code)
    code.write_text(SIX)
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        await app.until(lambda: re.search(r" 17✗", app.text()))
        await app.press("L", "e", "!", "escape", "escape")
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.lines, note.followed) == ((17, 17), None)


async def test_equal_lines_elsewhere_do_not_take_a_note_that_was_seen_to_change(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        first, _ = await followed(app, code)
    text = code.read_text()
    code.write_text(text + "\n" + F4)
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        session = app.compare.session
        await app.until(lambda: session.placed(0, session.notes(0)[0]).standing in ("doubt", "changed"))
        placed = session.placed(0, session.notes(0)[0])
        assert placed.note.lines == (first, first)
        assert {spot.lines[0] for spot in placed.spots} >= {first}


async def test_the_word_of_its_judge_ends_the_following(workspace: Workspace, code: Path) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        first, _ = await followed(app, code)
    async with running(make_app(workspace, engine=None)) as app:
        await settled(app)
        await app.until(lambda: re.search(rf" {first}≠", app.text()))
        await app.press("L", "p")
        await app.until(lambda: isinstance(app.app.screen, Picker))
        await app.press("enter")
        await app.until(lambda: isinstance(app.app.screen, NotesList))
        await app.press("escape")
        await app.until(lambda: re.search(rf"{first}✗", app.text()))
    [note] = load_scorecard(card_path(workspace)).notes
    assert (note.lines, note.quote, note.followed) == ((first, first), "    total = sum(x)", None)


async def test_of_lines_that_are_written_anew_together_a_note_stays_at_its_own(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app, "17")
        await changed(app, code, SIX.replace(F4, "def f4(x):\n    size = sum(x)\n    return size / 4\n\n\n"))
        await app.until(lambda: re.search(r" 17≠", app.text()))
        session = app.compare.session
        assert session.placed(0, session.notes(0)[0]).standing == "changed"


async def test_a_note_on_a_blank_line_is_not_marked_for_what_changes_elsewhere(
    workspace: Workspace, code: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        # the second one of two
        await noted(app, "20")
        await changed(app, code, HEAD + SIX.replace("x * 6", "x + 6"))
        await app.until(lambda: re.search(r" 24✗", app.text()))


async def test_leaving_waits_until_it_is_known_where_lines_went(
    workspace: Workspace, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await noted(app, "17")
        going = threading.Event()

        def late(*args: object, **kwargs: object) -> object:
            going.wait(5)
            return place(*args, **kwargs)  # type: ignore[arg-type]

        place = placements.place
        monkeypatch.setattr(placements, "place", late)
        code.write_text(HEAD + SIX.replace("out = x * 4", "size = sum(x)"))
        app.compare.parts.watching.disk_changed({code})
        pane = app.compare.panes[0]
        await app.until(lambda: len(pane.source) == len((HEAD + SIX).splitlines()))
        threading.Timer(0.1, going.set).start()
        await app.press("q")
    [note] = load_scorecard(card_path(workspace)).notes
    assert note.followed is not None
    assert note.followed.lines == (21, 21)
