"""Journals of long sessions: they stay short, are opened without reading all of it, and forget nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from judge_tui.judging.card import Scorecard
from judge_tui.judging.scorecard import parse_scorecard
from judge_tui.tui.desk import history, journal
from judge_tui.tui.desk.history import History, Step
from judge_tui.tui.kept import rescue
from judge_tui.tui.kept.documents import SCORECARD

from .conftest import Opener

CARD = Scorecard("kv", "alpha", "anna", summary="Words on the whole. " * 50)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "anna.toml"


def journal_of(path: Path) -> Path:
    return rescue.place(path, "history", ".jsonl")


def typed(path: Path, count: int) -> Scorecard:
    """Type into a comment for a while; the card then."""
    told = History([path])
    told.take_up([CARD])
    card = CARD
    for number in range(count):
        card = card.with_comment("correctness", f"text {number}")
        told._append([(0, Step("do", "Correctness comment", card, merge=True, at=number))])
    told.close()
    return card


def test_typing_for_long_makes_no_long_journal_and_is_one_step(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_GROWN", 20_000)
    card = typed(path, 200)
    assert journal_of(path).stat().st_size < 30_000
    again = History([path])
    [log], order, _ = again.take_up([card])
    again.close()
    assert ([turn.which for turn in order], log.undo().card) == ([0], CARD)


def test_what_is_undone_is_remembered_when_a_journal_is_written_in_fewer_lines(path: Path) -> None:
    steps = [Step("open", card="0")]
    steps += [Step("do", "text", text, merge=True, at=at) for at, text in enumerate("abc", 1)]
    steps += [Step("seal", at=4), Step("do", "text", "d", merge=True, at=5), Step("do", "text", "e", at=6)]
    steps += [Step("undo", at=7), Step("undo", at=8), Step("redo", at=9)]
    data = "".join(map(journal.line, steps)).encode()
    short = journal.compacted(data)
    assert short.count("\n") == 5
    one, other = (journal.replayed(journal.read(each)[0]) for each in (data, short.encode()))
    assert one is not None
    assert other is not None
    assert [(edit.before, edit.after) for edit in other.log.past] == [("0", "c"), ("c", "d")]
    assert (other.log.card, [edit.after for edit in other.log.future]) == ("d", ["e"])
    assert (other.done, other.future) == (one.done, one.future) == (6, (7,))
    while_typing = journal.compacted("".join(map(journal.line, steps[:4])).encode())
    still = journal.replayed(journal.read(while_typing.encode())[0])
    assert still is not None
    assert (still.done, still.past, still.log.card) == (3, (1,), "c")


def test_a_journal_is_opened_without_parsing_every_card_in_it(opened: Opener) -> None:
    session = opened()
    for number in range(100):
        session.change(0, f"step {number}", session.card.with_score("correctness", number))
    session.close()
    parsed: list[bytes] = []

    def parse(data: bytes, file: Path) -> Scorecard:
        parsed.append(data)
        return parse_scorecard(data, file)

    again = History(session.paths[:1], replace(SCORECARD, parse=parse))
    _, order, _ = again.take_up([session.card])
    again.close()
    assert (len(order), len(parsed)) == (100, 11)


def test_undo_goes_through_all_changes_of_an_earlier_run_and_back(opened: Opener) -> None:
    session = opened()
    for number in range(50):
        session.change(0, f"step {number}", session.card.with_score("correctness", number))
    session.close()
    again = opened()
    for number in reversed(range(50)):
        assert again.card.score("correctness") == number
        assert again.undo() is not None
    assert again.card.score("correctness") is None
    assert again.undo() is None
    again.close()
    third = opened()
    while third.redo():
        pass
    assert third.card.score("correctness") == 49
    assert len(third.changes) == 50


@pytest.mark.parametrize("bad", [3, 25, 48, 50])
def test_a_card_that_is_malformed_costs_its_own_step_however_old(opened: Opener, bad: int) -> None:
    session = opened()
    for number in range(50):
        session.change(0, f"step {number}", session.card.with_score("correctness", number))
    session.close()
    place = journal_of(session.paths[0])
    lines = place.read_text().splitlines()
    lines[bad] = json.dumps(json.loads(lines[bad]) | {"card": "by hand ="})
    place.write_text("\n".join(lines) + "\n")
    again = opened()
    scores = [again.card.score("correctness")]
    # what is on disk and in no step is not known to be this window's own
    while again.undo() or again.undo(theirs=True):
        scores.append(again.card.score("correctness"))
    expected = [49, *(number for number in range(48, -1, -1) if number != bad - 1), None]
    # the last one is on disk all the same
    assert scores == expected
