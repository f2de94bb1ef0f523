"""Keys that come faster than the screen: none is lost, and none is taken for a command."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.keys import _character_to_key
from textual.widgets import Input, TextArea

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.note_editor import NoteEditor
from judge_tui.tui.screens.text_editor import TextEditor
from judge_tui.tui.textual_private.escape_key import heed_pauses

from .conftest import Driver, make_app, make_workspace, running

SENTENCE = "Quits early; c, q, S, s and 1 are letters: x?"
_NAMES = {"\n": "enter", "\x1b": "escape", "\t": "tab", "③": "f3", "④": "f4", "\x1a": "ctrl+z"}


async def burst(driver: Driver, keys: str) -> None:
    """All keys at once, as from a terminal that was busy; then wait until they are through."""
    app = driver.app
    for key in keys:
        character = None if key in _NAMES else key
        app.post_message(events.Key(_NAMES.get(key) or _character_to_key(key), character))
    await driver.pilot.pause()
    await driver.until(lambda: not app.typing)


async def send(driver: Driver, data: str) -> None:
    """What a terminal sends, in reads as large as the driver's; then wait until it is through."""
    heed_pauses()
    parser = XTermParser()
    for at in range(0, len(data), 4096):
        for event in parser.feed(data[at : at + 4096]):
            driver.app.post_message(event)
    await driver.pilot.pause()
    await driver.until(lambda: not driver.app.typing)


async def test_a_sentence_right_behind_the_key_that_opens_a_comment_is_the_comment(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await burst(driver, "sc85\n" + SENTENCE)
        assert isinstance(driver.app.screen, TextEditor)
        assert driver.compare.session.card.comment("correctness") == SENTENCE
        assert driver.compare.session.card.score("correctness") == 85


async def test_what_is_typed_behind_ctrl_z_is_for_the_shell(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        sent: list[int] = []
        monkeypatch.setattr(type(driver.app._driver), "can_suspend", True)
        monkeypatch.setattr(os, "kill", lambda _, number: sent.append(number))
        await burst(driver, "\x1afg\nja")
        assert sent == [signal.SIGTSTP]
        assert driver.app.screen is driver.compare
        assert driver.compare.panes[0].view.cursor == 0
        await burst(driver, "jj")
        assert driver.compare.panes[0].view.cursor == 2


async def test_a_sentence_right_behind_the_keys_of_a_note_is_its_text(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await burst(driver, "jjvja③" + SENTENCE + "\x1b")
        note = driver.compare.session.notes(0)[0]
        assert (note.kind, note.text, note.lines) == ("weakness", SENTENCE, (3, 4))
        assert driver.app.screen is driver.compare


async def test_a_whole_session_in_one_burst_goes_where_it_was_meant(workspace: Workspace) -> None:
    keys = f"a④{SENTENCE}\x1bBjja③{SENTENCE}\x1bsc70\n{SENTENCE}\x1bt65O72\n{SENTENCE}\x1b"
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await burst(driver, keys)
        first, second = driver.compare.session.cards
        assert [(note.kind, note.text) for note in first.notes] == [("bug", SENTENCE)]
        assert [(note.kind, note.text) for note in second.notes] == [("weakness", SENTENCE)]
        assert second.scores == {"correctness": 70, "tests": 65}
        assert second.comment("correctness") == second.overall_reason == SENTENCE
        assert second.overall == 72


async def test_a_query_right_behind_the_slash_is_the_query(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await burst(driver, "/cache")
        assert driver.app.screen.query_one(Input).value == "cache"
        await burst(driver, "\njj")
        assert not driver.compare.query("#search")
        await driver.until(lambda: driver.compare.panes[0].view.hits)


async def test_a_file_is_picked_in_one_burst(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await burst(driver, "fhelp\njG")
        assert driver.compare.panes[0].file == "helpers.py"
        assert driver.compare.panes[0].view.cursor == len(driver.compare.panes[0].source) - 1


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_burst_is_safe_on_small_screens(
    tmp_path: Path, workspace: Workspace, size: tuple[int, int]
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    async with running(make_app(three, ("alpha", "beta", "gamma")), size=size) as driver:
        await driver.settle()
        await burst(driver, f"Ca{SENTENCE}\x1bsc9\n{SENTENCE}\x1b")
        card = driver.compare.session.cards[2]
        assert [note.text for note in card.notes] == [SENTENCE]
        assert card.comment("correctness") == SENTENCE


async def test_a_paste_right_behind_the_key_that_opens_an_editor_goes_into_it(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("s")
        driver.app.post_message(events.Key("enter", None))
        driver.app.post_message(events.Paste(SENTENCE))
        await driver.pilot.pause()
        await driver.until(lambda: not driver.app.typing)
        assert driver.app.screen.query_one(TextArea).text == SENTENCE


async def test_keys_behind_a_note_that_is_opened_from_its_list_go_into_it(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await burst(driver, f"a{SENTENCE}\x1bLe{SENTENCE}")
        assert isinstance(driver.app.screen, NoteEditor)
        assert driver.compare.session.notes(0)[0].text == SENTENCE * 2


async def test_typing_in_a_dialog_draws_nothing_behind_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("s", "enter")
        lines = driver.compare.rubric_pane.lines
        drawn: list[str] = []
        draw = lines.update_lines
        monkeypatch.setattr(lines, "update_lines", lambda: (drawn.append("again"), draw()))
        await burst(driver, SENTENCE)
        assert not drawn
        await burst(driver, "\x1b")
        assert drawn
        assert SENTENCE[:12] in driver.text()


async def test_escape_and_what_follows_it_at_once_end_a_note_and_begin_the_next(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 3600.0)
    sentence = "a very important note by window one; it is " + "long " * 20
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await send(driver, f"a{SENTENCE}\x1bja{sentence}\x1bj")
        await send(driver, f"ja\x1ba{sentence}")
        assert isinstance(driver.app.screen, NoteEditor)
        texts = [note.text for note in driver.compare.session.notes(0)]
        assert SENTENCE in texts
        assert sum(sentence.strip() in text for text in texts) == 2


COLOURED = "".join(f"\x1b[3{number % 8}mq line {number} S85\x1b[0m\r" for number in range(2900))
COPIED = "".join(f"q line {number} S85\n" for number in range(2900))


async def test_a_long_coloured_paste_is_the_text_of_a_note(workspace: Workspace) -> None:
    assert len(COLOURED) > 69_000
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await send(driver, f"a\x1b[200~{COLOURED}\x1b[201~")
        assert driver.app.screen.query_one(TextArea).text == COPIED
        await send(driver, "end")
        assert driver.compare.session.notes(0)[0].text == COPIED + "end"


@pytest.mark.parametrize("before", ["", "s", "L"])
async def test_a_paste_over_code_rubric_or_notes_does_nothing(workspace: Workspace, before: str) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await burst(driver, before)
        was, screen, focus = driver.text(), driver.app.screen, driver.app.focused
        await send(driver, f"\x1b[200~sc85\rj\x1b[1mas {COLOURED}\x1b[201~")
        assert (driver.app.screen, driver.app.focused) == (screen, focus)
        assert driver.text() == was
        card = driver.compare.session.card
        assert not card.scores
        assert not card.notes


async def test_what_is_typed_before_a_signal_is_kept(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        app, session = driver.app, driver.compare.session
        await driver.press("s", "c", "8", "5", "enter")
        for letter in SENTENCE:
            app.post_message(events.Key(_character_to_key(letter), letter))
        app._end(143)
        await driver.until(lambda: app._exit)
        assert session.card.comment("correctness") == SENTENCE
        assert app.return_code == 143
