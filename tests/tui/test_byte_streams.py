"""Any bytes of a terminal: no program ends, and in a card stands what was typed, no more and no less."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.message import Message

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.note_editor import NoteEditor
from judge_tui.tui.textual_private import escape_key
from judge_tui.tui.textual_private.escape_key import heed_pauses, without_alt
from judge_tui.tui.textual_private.unprinted import as_text

from .byte_streams import ANSWERS, STREAMS, Piece, Read, escapes, reads, sent, typed
from .conftest import Driver, make_app, running

_AT_ONCE = 25


class Clock:
    """The time, by hand: however slow the machine, no pause is longer than it is meant to be."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between two reads, however slow the machine."""
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 3600.0)


def text_of(arriving: Sequence[Read]) -> str:
    """What an editor would take of some reads, a pause behind them."""
    heed_pauses()
    parser, found, closing = XTermParser(), "", 0
    told: list[Message] = []
    with patch.object(escape_key.time, "monotonic", CLOCK):
        for read in arriving:
            CLOCK.now += read.pause
            # the driver looks every tenth of a second
            told += [*(parser.tick() if read.pause else ()), *parser.feed(read.data)]
        CLOCK.now += 5.0
        told += parser.tick()
    for event in told:
        for one in map(as_text, without_alt(event)) if isinstance(event, events.Key) else [event]:
            if isinstance(one, events.Paste):
                found += one.text
            elif isinstance(one, events.Key):
                closing += one.key == "escape"
                found += one.character if one.is_printable and one.character else ""
    assert closing <= escapes(arriving), "an editor would close"
    return found


def is_what_was_typed(stream: Sequence[Piece], seed: int) -> None:
    assert text_of([Read(sent(stream))]) == typed(stream)
    assert text_of(list(reads(stream, seed))) == typed(stream)


@settings(max_examples=300, derandomize=True)
@given(STREAMS, st.integers(0, 1 << 20))
def test_what_a_stream_types_is_its_text(stream: list[Piece], seed: int) -> None:
    is_what_was_typed(stream, seed)


@pytest.mark.campaign
@settings(max_examples=10_000, derandomize=True, suppress_health_check=list(HealthCheck))
@given(STREAMS, st.integers(0, 1 << 20))
def test_what_ten_thousand_streams_type_is_their_text(stream: list[Piece], seed: int) -> None:
    is_what_was_typed(stream, seed)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda piece: repr(piece.data[:16]))
@pytest.mark.parametrize("pause", [0.0, 0.05, 0.5])
def test_an_answer_that_is_split_anywhere_types_nothing(answer: Piece, pause: float) -> None:
    for at in range(1, len(answer.data)):
        parts = [Read("a"), Read(answer.data[:at]), Read(answer.data[at:], pause), Read("b", pause)]
        assert text_of(parts) == "ab", (at, pause)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda piece: repr(piece.data[:16]))
def test_an_answer_that_comes_byte_by_byte_types_nothing(answer: Piece) -> None:
    start = answer.data[:3]
    pause = 0.1 if len(answer.data) < 20 else 0.01
    parts = [Read("a"), Read(start), *(Read(sign, pause) for sign in answer.data[3:]), Read("b")]
    assert text_of(parts) == "ab"


async def noted(app: Driver, streams: Sequence[Sequence[Piece]]) -> None:
    """Send streams into the text of a note, which must hold what was typed, and take it away."""
    heed_pauses()
    await app.press("a", "f4")
    parser = XTermParser()
    for stream in streams:
        # what began in one stream has ended before the next
        for event in (*parser.feed(sent(stream)), *parser.feed("\x1b[I")):
            app.app.post_message(event)
    await app.pilot.pause()
    await app.until(lambda: not app.app.typing)
    assert isinstance(app.app.screen, NoteEditor), "the editor was left"
    await app.press("escape")
    card = app.compare.session.cards[0]
    wanted = "".join(map(typed, streams))
    notes = [(note.kind, note.text) for note in card.notes]
    assert notes == ([("bug", wanted)] if wanted.strip() else [])
    assert not card.scores
    assert app.compare.session.cards[1].blank
    if notes:
        app.compare.session.drop_note(0, card.notes[0].id)


def drawn(count: int) -> list[list[Piece]]:
    """Streams that are the same in every run."""
    found: list[list[Piece]] = []

    @settings(max_examples=count, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(STREAMS)
    def draw(stream: list[Piece]) -> None:
        found.append(stream)

    draw()
    return found


async def survives(workspace: Workspace, count: int) -> None:
    streams = drawn(count)
    async with running(make_app(workspace, engine=None), (80, 24)) as app:
        for at in range(0, len(streams), _AT_ONCE):
            await noted(app, streams[at : at + _AT_ONCE])


@pytest.mark.usefixtures("patient")
async def test_streams_leave_in_a_note_what_was_typed(workspace: Workspace) -> None:
    await survives(workspace, 50)


@pytest.mark.campaign
@pytest.mark.usefixtures("patient")
async def test_ten_thousand_streams_leave_in_notes_what_was_typed(workspace: Workspace) -> None:
    await survives(workspace, 10_000)
