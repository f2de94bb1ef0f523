"""Who may speak when."""

from __future__ import annotations

import pytest

from judge_tui.checks.challenges.behaviour.turns import OutOfTurnError, Party, Turns

A, S = Party.AUTHOR, Party.SUBMISSION


def test_whoever_is_asked_may_ask_back_before_answering() -> None:
    turns = Turns()
    turns.ask(A, 0)
    assert (turns.inside, turns.holder(0)) == (1, S)
    turns.ask(S, 0)
    assert (turns.inside, turns.holder(0)) == (0, A)
    turns.answer(A, 0)
    turns.answer(S, 0)
    assert (turns.inside, turns.threads) == (0, 0)


def test_each_side_begins_on_threads_of_its_own() -> None:
    turns = Turns()
    turns.ask(S, 1)
    with pytest.raises(OutOfTurnError):
        turns.ask(S, 2)
    with pytest.raises(OutOfTurnError):
        turns.ask(A, 3)


@pytest.mark.parametrize("party", [A, S])
def test_nobody_answers_unasked_or_asks_out_of_turn(party: Party) -> None:
    turns = Turns()
    with pytest.raises(OutOfTurnError, match="nobody asked"):
        turns.answer(party, 0)
    turns.ask(A, 0)
    with pytest.raises(OutOfTurnError):
        turns.ask(A, 0)
    with pytest.raises(OutOfTurnError):
        turns.answer(A, 0)


def test_calls_nest_so_deep_and_no_deeper() -> None:
    turns = Turns()
    for depth in range(36):
        turns.ask(S if depth % 2 else A, 0)
    turns.ask(A, 0)
    with pytest.raises(OutOfTurnError, match="more than 32 deep"):
        turns.ask(S, 0)
