"""Any bytes of a terminal: no program ends, and in a card stands what was typed, no more and no less."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual import constants, events
from textual._xterm_parser import XTermParser

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.note_editor import NoteEditor
from judge_tui.tui.textual_private.escape_key import heed_pauses, without_alt
from judge_tui.tui.textual_private.unprinted import as_text

from .byte_streams import STREAMS, Piece, chunks, sent, typed
from .conftest import Driver, make_app, running

_AT_ONCE = 25


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between two reads, however slow the machine."""
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 3600.0)


def text_of(reads: Sequence[str]) -> str:
    """What an editor would take of some reads, a pause behind them."""
    heed_pauses()
    parser, found = XTermParser(), ""
    told = [event for data in reads for event in parser.feed(data)]
    if parser._timeout_time is not None:
        parser._timeout_time = -10.0
        told += parser.tick()
    for event in told:
        for one in map(as_text, without_alt(event)) if isinstance(event, events.Key) else [event]:
            if isinstance(one, events.Paste):
                found += one.text
            elif isinstance(one, events.Key):
                assert one.key != "escape", "an editor would close"
                found += one.character if one.is_printable and one.character else ""
    return found


def is_what_was_typed(stream: Sequence[Piece], seed: int) -> None:
    assert text_of([sent(stream)]) == typed(stream)
    assert text_of(list(chunks(stream, seed))) == typed(stream)


@settings(max_examples=200, derandomize=True)
@given(STREAMS, st.integers(0, 1 << 20))
def test_what_a_stream_types_is_its_text(stream: list[Piece], seed: int) -> None:
    is_what_was_typed(stream, seed)


@pytest.mark.campaign
@settings(max_examples=10_000, derandomize=True, suppress_health_check=list(HealthCheck))
@given(STREAMS, st.integers(0, 1 << 20))
def test_what_ten_thousand_streams_type_is_their_text(stream: list[Piece], seed: int) -> None:
    is_what_was_typed(stream, seed)


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


async def test_streams_leave_in_a_note_what_was_typed(workspace: Workspace) -> None:
    await survives(workspace, 50)


@pytest.mark.campaign
async def test_ten_thousand_streams_leave_in_notes_what_was_typed(workspace: Workspace) -> None:
    await survives(workspace, 10_000)
