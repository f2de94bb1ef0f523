"""A scorecard or matchups of a newer schema on the screen: shown, and no byte of them is changed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_tui.judging.matchup import Criterion
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import FileStamp, Scorecard, load_scorecard, render_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.desk.matchup_desk import KEY, MARGIN, WINNER
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.kept import rescue
from judge_tui.tui.screens.note_editor import NoteEditor
from judge_tui.tui.screens.notes_list import NotesList

from .at_home import make_home, ready
from .conftest import DYING, Driver, Opener, Reports, keep, make_app, running
from .matchup_desks import PROPOSAL, desks
from .test_terminal import PROGRAM, Terminal

UNTIL = "until judge-tui is updated."
CARD = """\
schema = 2
task = "kv"
model = "alpha"
judge = "anna"
mood = "new"

[dimensions.correctness]
score = 85
comment = "as ever"

[dimensions.tests]
score = "many"

[[notes]]
id = "n1"
kind = "bug"
severity = "major"
text = "the whole of what is wrong"
file = "kv_cache.py"
lines = [2, 3]
"""
MATCHUPS = """\
schema = 2
task = "kv"
judge = "anna"

[[matchups]]
models = ["alpha", "beta"]
winner = "beta"
key_differentiator = "as it was"

[[matchups.criteria]]
name = "Size"
cells = { alpha = "10", beta = "20" }
"""


@pytest.fixture
def card(workspace: Workspace) -> Iterator[Path]:
    """A newer card of the first submission, which is the same in the end, and at the same time of change."""
    yield from unchanged(workspace.scorecard_path("kv", "alpha", "anna"), CARD)


@pytest.fixture
def matchups(workspace: Workspace) -> Iterator[Path]:
    """Newer matchups, which are the same in the end."""
    yield from unchanged(workspace.matchups_path("kv", "anna"), MATCHUPS)


def unchanged(path: Path, text: str) -> Iterator[Path]:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    before = path.stat()
    yield path
    assert path.read_text() == text
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def told(driver: Driver, words: str = UNTIL) -> list[str]:
    return [message for message in driver.messages() if words in message]


async def asked(driver: Driver, *keys: str) -> None:
    """Press keys that ask for a change, which is refused with the reason."""
    driver.app.clear_notifications()
    await driver.pilot.pause()
    await driver.press(*keys)
    assert told(driver), (keys, driver.messages())


# on the screen


async def test_a_newer_card_is_shown_and_says_so_on_opening(workspace: Workspace, card: Path) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        [said] = told(app)
        assert said == (
            f"A: {card}: is a scorecard of schema 2, and this judge-tui knows schema 1: "
            f"it is shown as far as it can be read and stays as it is {UNTIL}"
        )
        await app.press("s")
        assert "read-only" in app.text()
        assert "as ever" in app.text()
        row = next(line for line in app.text().split("\n") if "Correctness" in line)
        assert "85" in row
        await app.press("w")
        assert "read-only" not in app.text()


async def test_every_key_that_would_change_it_says_why_not(workspace: Workspace, card: Path) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        session = app.compare.session
        before = session.cards
        await app.press("s", "c")
        for key in ("1", "plus", "minus", "backspace", "delete", "enter", "u", "ctrl+r"):
            await asked(app, key)
            assert app.app.screen is app.compare, key
        for keys in (("O", "7"), ("enter",), ("S", "5"), ("enter",)):
            await asked(app, *keys)
        assert session.keypad.typed == ""
        await app.press("escape")
        await asked(app, "j", "a")
        assert len(app.messages()) == 1
        assert not isinstance(app.app.screen, NoteEditor)
        assert session.cards == before
        assert session.unsaved() == ()
        await app.press("ctrl+s")
        assert "NOT SAVED" not in app.text()
        await app.press("q")
        await app.until(lambda: app.app._exit)
    assert app.app.unsaved == []


async def test_its_notes_can_be_read_and_copied_and_not_changed(workspace: Workspace, card: Path) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("L")
        assert "the whole of what is wrong" in app.text()
        await asked(app, "d")
        assert len(app.compare.session.notes(0)) == 1
        await asked(app, "e")
        assert "the whole of what is wrong" in app.messages()
        assert not isinstance(app.app.screen, NoteEditor)
        await app.press("L", "c")
        await app.until(lambda: len(app.compare.session.notes(1)) == 1)
        # and from the other submission to this one
        await app.until(lambda: isinstance(app.app.screen, NotesList))
        app.app.clear_notifications()
        await app.press("j", "c")
        await app.until(lambda: told(app))
        assert len(app.compare.session.notes(0)) == 1
    beta = load_scorecard(workspace.scorecard_path("kv", "beta", "anna"))
    assert [note.text for note in beta.notes] == ["the whole of what is wrong"]


async def test_the_other_card_is_judged_as_ever(workspace: Workspace, card: Path) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "w", "c", "7", "0", "enter", *"fine", "escape", "t", "6", "0")
        session = app.compare.session
        assert not session.next_unscored()
        await app.press("u")
        session.flush()
        beta = load_scorecard(session.paths[1])
        assert (beta.score("correctness"), beta.comment("correctness")) == (70, "fine")
        assert beta.score("tests") is None


async def test_a_card_that_a_newer_window_saves_is_taken_in_to_be_looked_at(workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    async with running(make_app(workspace)) as app:
        await app.settle()
        session = app.compare.session
        await app.press("s", "c", "1", "0", "w", "t", "3", "0", "w")
        session.flush()
        path.write_text(CARD)
        app.compare.parts.watching.disk_changed(frozenset({path}))
        await app.until(lambda: told(app))
        assert session.card.score("correctness") == 85
        assert "read-only" in app.text()
        await asked(app, "9")
        # undo leads into the other card, and not into this one
        assert len(session.changes) == 1
        await app.press("u")
        assert session.changes[1].score("tests") != 30
        await app.press("u", "u", "u")
        assert session.card.score("correctness") == 85
        session.flush()
    assert path.read_text() == CARD


async def test_what_cannot_be_saved_over_a_newer_card_is_kept_for_the_update(workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    async with running(make_app(workspace)) as app:
        await app.settle()
        session = app.compare.session
        await app.press("s", "c", "1", "0")
        session.flush()
        path.write_text(CARD)
        await app.press("t", "5", "5")
        await app.until(lambda: "NOT SAVED" in app.text())
        [said] = [message for message in app.messages() if "Your work is kept in" in message]
        assert "schema 2" in said
        for settle in (session.overwrite, session.reload):
            assert "What was changed here is kept, and asked about then." in settle(0)
        assert session.card.score("tests") == 55
    assert path.read_text() == CARD
    [kept] = rescue.every_kept(path)
    assert kept.score("tests") == 55
    # the next start shows what is on disk, and leaves what is kept where it is
    async with running(make_app(workspace)) as app:
        await app.settle()
        assert "A: Unsaved work of an earlier run is kept until then." in app.messages()
        assert app.compare.session.card.score("correctness") == 85
    assert path.read_text() == CARD
    assert rescue.every_kept(path) == (kept,)


async def test_home_shows_it_and_says_that_it_is_read_only(workspace: Workspace, card: Path) -> None:
    async with running(make_home(workspace)) as app:
        await ready(app)
        assert "read-only: written by a newer judge-tui" in app.text()
        assert "1 of 2 dimensions scored" in app.text()
        await app.press("j")
        assert "read-only" not in app.text()
        assert app.app.home is not None
        assert [pair.due for pair in app.app.home.board.queue] == [("beta",)]


# blind


def blind_app(workspace: Workspace) -> JudgeApp:
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    return JudgeApp(workspace, submissions, "anna", EngineOptions(command=None), blind=True)


@pytest.mark.parametrize("mark", ["", "\n[blind]\nbegan = 2026-03-01T09:00:00+00:00\n"])
async def test_names_are_not_revealed_where_a_newer_card_could_not_be_told(
    workspace: Workspace, mark: str
) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(CARD.replace('"many"', "60") + mark)
    async with running(blind_app(workspace)) as app:
        session = app.compare.session
        seat = next(index for index, one in enumerate(session.submissions) if one.model == "beta")
        await app.until(lambda: told(app))
        assert not any("alpha" in message for message in app.messages())
        session.score_now(seat)
        await app.press("s", "c", "7", "0", "t", "8", "0")
        assert session.unscored == 0
        assert "reveals" not in app.text()
        await asked(app, "f9")
        assert "The names stay hidden: their reveal has to be written into every scorecard." in app.messages()
        assert not any("alpha" in message for message in app.messages())
        assert not session.reveal()
        session.flush()
        assert session.blindfold.active
    assert path.read_text() == CARD.replace('"many"', "60") + mark
    assert load_scorecard(workspace.scorecard_path("kv", "beta", "anna")).sealed


# the desk by itself


def test_no_way_of_the_desk_changes_a_newer_card(opened: Opener, card: Path, reports: Reports) -> None:
    session = opened()
    refused: list[tuple[int, str]] = []
    session.refused = lambda index, why: refused.append((index, why))
    before = session.cards
    session.digit("5")
    assert session.keypad.typed == ""
    refused.clear()
    note = new_note("bug", "another")
    acts = [
        lambda: session.digit("5"),
        lambda: session.adjust(1),
        session.clear_score,
        lambda: session.set_text("words", index=0, row=session.rows[0]),
        lambda: session.put_note(0, note),
        lambda: session.drop_note(0, "n1"),
        lambda: session.change(0, "anything", before[0].with_grade("F")),
    ]
    for number, act in enumerate(acts, 1):
        act()
        assert len(refused) == number
    assert {(index, UNTIL in why) for index, why in refused} == {(0, True)}
    assert (session.undo(), session.redo(), session.cards) == (None, None, before)
    session.save(0)
    session.save_restored()
    session.flush()
    assert (session.unsaved(), session.lost(), reports.all) == ((), (), [])


def test_the_history_of_before_is_neither_gone_into_nor_lost(
    opened: Opener, workspace: Workspace, reports: Reports
) -> None:
    first = opened()
    path = first.paths[0]
    first.digit("8")
    first.flush()
    first.close()
    old = path.read_text()
    path.write_text(CARD)
    second = opened()
    assert second.undo() is None
    second.close()
    assert path.read_text() == CARD
    path.write_text(old)
    third = opened()
    assert third.undo() == "A: Correctness score, 8 → –"


def test_unsaved_work_of_before_waits_while_the_card_is_newer(opened: Opener, card: Path) -> None:
    older = Scorecard("kv", "alpha", "anna").with_score("correctness", 12)
    keep(card, older, FileStamp.of(b"what was there before"))
    session = opened()
    assert (session.restored, session.waiting) == ((), (0,))
    assert session.card.score("correctness") == 85
    session.close()
    [kept] = rescue.every_kept(card)
    assert kept.score("correctness") == 12


def test_unsaved_work_of_a_newer_judge_tui_is_left_to_it(opened: Opener, workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    place = rescue.place(path, "unsaved", ".feedfeedfeed.toml")
    place.parent.mkdir(parents=True)
    place.write_text(CARD)
    session = opened()
    assert session.newer == [(0, place)]
    assert session.damaged == []
    assert session.card.score("correctness") is None
    session.digit("7")
    session.flush()
    session.close()
    assert load_scorecard(path).score("correctness") == 7
    assert place.read_text() == CARD
    # it can be claimed by the next start
    assert opened().newer == [(0, place)]


async def test_that_such_work_waits_is_told(workspace: Workspace) -> None:
    place = rescue.place(workspace.scorecard_path("kv", "beta", "anna"), "unsaved", ".feedfeedfeed.toml")
    place.parent.mkdir(parents=True)
    place.write_text(CARD.replace("alpha", "beta"))
    async with running(make_app(workspace, engine=None)) as app:
        await app.until(lambda: told(app, "newer judge-tui waits"))
        assert told(app, "waits") == [
            f"B: Unsaved work of a newer judge-tui waits in {place} until this one is updated."
        ]


def test_a_newer_card_in_a_wrong_place_is_not_written_over_either(opened: Opener) -> None:
    session = opened()
    session.digit("8")
    session.flush()
    wrong = CARD.replace('judge = "anna"', 'judge = "ben"')
    session.paths[0].write_text(wrong)
    session.digit("5")
    session.flush()
    assert UNTIL in session.overwrite(0)
    session.save(0)
    session.flush()
    assert session.paths[0].read_text() == wrong


def test_a_card_without_a_version_opens_and_is_judged(opened: Opener, workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    path.parent.mkdir(parents=True)
    old = render_scorecard(workspace.scorecard("kv", "alpha", "anna")[0]).replace("schema = 1\n", "")
    assert "schema" not in old
    path.write_text(old)
    session = opened()
    assert session.closed == {}
    session.flush()
    assert path.read_text() == old
    session.digit("5")
    session.flush()
    assert load_scorecard(path).score("correctness") == 5


# a crash


def test_a_program_that_is_killed_leaves_it_as_it_was(workspace: Workspace, card: Path) -> None:
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    terminal = Terminal([sys.executable, "-c", PROGRAM, str(workspace.root), DYING], env)
    try:
        terminal.see(b"ended unexpectedly")
        terminal.send(b"s")
        terminal.see(b"read-only")
        terminal.send(b"c10t99")
        terminal.see(b"judge-tui is")
        terminal.send(b"w40")
        beta = workspace.scorecard_path("kv", "beta", "anna")
        terminal.until(lambda: beta.exists() and "score = 40" in beta.read_text())
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
        terminal.status = -9
    finally:
        terminal.close()
    assert rescue.every_kept(card) == ()


# matchups


async def test_newer_matchups_are_shown_and_every_key_says_why_they_stay(
    workspace: Workspace, matchups: Path
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("M")
        [said] = told(app)
        assert said == (
            f"{matchups}: is a matchup file of schema 2, and this judge-tui knows schema 1: "
            f"it is shown as far as it can be read and stays as it is {UNTIL}"
        )
        text = app.text()
        assert "read-only" in text
        assert "as it was" in text
        assert "Size" in text
        before = app.matchup.matchup
        screen = app.app.screen
        for keys in (
            "A", "t", "backspace", "space", "Y", "d", "u", "ctrl+r", "enter", "j 5", "j enter", "d",
            "j enter", "B", "d", "J", "K", "a", "R",
        ):  # fmt: skip
            await asked(app, *keys.split())
            assert app.app.screen is screen, keys
        assert app.matchup.matchup == before
        await app.press("ctrl+s", "q", "q")
        await app.until(lambda: app.app._exit)


def test_no_way_of_the_desk_changes_newer_matchups(workspace: Workspace, matchups: Path) -> None:
    with desks(workspace) as opened_desk:
        desk = opened_desk()
        refused: list[str] = []
        desk.refused = refused.append
        before, line = desk.matchup, ("criterion", 0)
        acts = [
            lambda: desk.edge(WINNER, "alpha"),
            lambda: desk.edge(line, "alpha"),
            lambda: desk.accept(WINNER),
            desk.accept_all,
            lambda: desk.remove(line),
            lambda: desk.remove(KEY),
            lambda: desk.digit("5"),
            lambda: desk.write_key("words"),
            lambda: desk.write(line, Criterion("words")),
            lambda: desk.remove(MARGIN) and desk.write(("new", 0), Criterion("another")),
        ]
        for number, act in enumerate(acts, 1):
            act()
            assert len(refused) >= number
        assert desk.matchup == before
        assert (desk.undo(), desk.redo()) == (None, None)
        desk.save()
        desk.settle(mine=True)
        desk.flush()
        assert (desk.unsaved, desk.lost) == (False, False)
        assert desk.proposal is PROPOSAL


def test_a_matchup_that_became_newer_meanwhile_is_not_written_over_and_the_work_is_kept(
    workspace: Workspace,
) -> None:
    path = workspace.matchups_path("kv", "anna")
    with desks(workspace) as opened_desk:
        reports: list[object] = []
        desk = opened_desk(reports=reports)
        desk.edge(WINNER, "alpha")
        desk.flush()
        path.write_text(MATCHUPS)
        desk.write_key("typed behind it")
        desk.flush()
        assert desk.unsaved
        assert not desk.lost
        assert "schema 2" in str(reports[-1])
        for mine in (True, False):
            desk.settle(mine=mine)
            desk.flush()
        assert desk.matchup.key_differentiator == "typed behind it"
    assert path.read_text() == MATCHUPS


def test_matchups_without_a_version_open_and_are_decided(workspace: Workspace) -> None:
    path = workspace.matchups_path("kv", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(MATCHUPS.replace("schema = 2\n", ""))
    with desks(workspace) as opened_desk:
        desk = opened_desk()
        assert (desk.closed, desk.matchup.winner) == ("", "beta")
        desk.edge(WINNER, "alpha")
        desk.flush()
    assert 'winner = "alpha"' in path.read_text()
