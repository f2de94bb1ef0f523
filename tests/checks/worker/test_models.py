"""The scripted model answers for the sequences that it is handed, however they are packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judge_tui.checks.worker.scripted.models import Model, rows_of

ROWS = rows_of({"kind": "prefix", "seed": 3, "vocab_size": 7, "scale": 1.0})
CONTEXTS = [[4, 1, 2], [5], [0, 6]]
FLAT = [token for context in CONTEXTS for token in context]


@pytest.mark.parametrize(
    "told",
    [
        {"cu_seqlens": np.array([0, 3, 4, 6])},
        {"offsets": [0, 3, 4, 6]},
        {"lengths": np.array([3, 1, 2])},
        {"seq_lens": [3, 1, 2]},
    ],
    ids=lambda told: next(iter(told)),
)
@pytest.mark.parametrize("by_name", [True, False])
def test_contexts_may_stand_one_behind_the_other(told: dict[str, Any], by_name: bool) -> None:
    wanted = [ROWS.row(context) for context in CONTEXTS]
    model = Model(ROWS)
    flat = np.array(FLAT)
    rows = model(flat, **told) if by_name else model(flat, *told.values())
    assert rows.shape == (3, 7)
    assert np.allclose(rows, wanted)


def test_one_context_in_a_pack_is_a_batch_of_one() -> None:
    for told in ({"cu_seqlens": np.array([0, 3])}, {"lengths": np.array([3])}):
        assert Model(ROWS)(np.array(CONTEXTS[0]), **told).shape == (1, 7)


@pytest.mark.parametrize("beside", [[0, 1, 2], [1, 1, 1], [0, 1, 1]], ids=["places", "mask", "padding"])
def test_what_stands_beside_a_single_context_splits_nothing(beside: list[int]) -> None:
    assert Model(ROWS)(np.array(CONTEXTS[0]), np.array(beside)).shape == (7,)


@pytest.mark.parametrize("form", ["pair", "turned"])
def test_one_sequence_may_go_on_from_a_state(form: str) -> None:
    model = Model(ROWS, f"last {form}")

    def read(answer: Any) -> tuple[Any, Any]:
        return answer if form == "pair" else answer[::-1]

    row, state = read(model.start([4, 1]))
    assert np.allclose(row, ROWS.row([4, 1]))
    row, after = read(model.advance(state, 2) if form == "turned" else model.advance(2, state))
    assert np.allclose(row, ROWS.row([4, 1, 2]))
    assert (len(state), len(after), after.length) == (2, 3, 3)
    again, _state = read(model.advance(state, 5))
    assert np.allclose(again, ROWS.row([4, 1, 5]))


def test_rows_of_a_cache_may_be_repeated_and_taken_in_another_order() -> None:
    model = Model(ROWS, "last pair")
    rows, cache = model.prefill(CONTEXTS)
    assert np.allclose(rows, [ROWS.row(context) for context in CONTEXTS])
    cache = {name: np.repeat(array, 2, axis=0)[[5, 0, 2]] for name, array in cache.items()}
    rows, cache = model.decode(np.array([6, 1, 3]), cache)
    wanted = [[0, 6, 6], [4, 1, 2, 1], [5, 3]]
    assert np.allclose(rows, [ROWS.row(context) for context in wanted])
    rows, cache = model.decode(np.array([[2], [2], [2]]), cache=cache)
    assert np.allclose(rows, [ROWS.row([*context, 2]) for context in wanted])


def test_a_number_per_sequence_is_its_length_or_its_last_place() -> None:
    padded = np.array([[4, 1, 2], [5, 0, 0], [0, 6, 0]])
    wanted = [ROWS.row(context) for context in CONTEXTS]
    assert np.allclose(Model(ROWS)(padded, np.array([3, 1, 2])), wanted)
    places = Model(ROWS, "last places")
    assert np.allclose(places(padded, np.array([2, 0, 1])), wanted)
    with pytest.raises(TypeError, match="behind the last token"):
        places(padded, np.array([3, 1, 2]))


def test_a_mask_of_one_context_is_no_length() -> None:
    assert np.allclose(Model(ROWS)(np.array([4, 1, 2]), np.array([1, 1, 1])), ROWS.row([4, 1, 2]))
    assert np.allclose(Model(ROWS)(np.array([0, 4, 1]), np.array([0, 1, 1])), ROWS.row([4, 1]))


def test_behind_a_state_flags_are_no_tokens_and_two_numbers_are_refused() -> None:
    model = Model(ROWS, "last pair")
    _row, state = model([4, 1])
    row, _after = model(state, True, [2])
    assert np.allclose(row, ROWS.row([4, 1, 2]))
    row, _after = model.step(2, token=5, state=state)
    assert np.allclose(row, ROWS.row([4, 1, 5]))
    with pytest.raises(TypeError, match="which token"):
        model(2, 5, state)


def test_a_prompt_s_state_serves_every_beam_and_padding_behind_it_is_left_out() -> None:
    model = Model(ROWS, "last pair")
    _row, state = model([[4, 1]])
    rows, after = model(np.array([[5, 6], [2, 0]]), cache=state, lengths=np.array([2, 1]))
    assert np.allclose(rows, [ROWS.row([4, 1, 5, 6]), ROWS.row([4, 1, 2])])
    assert after.rows == [[4, 1, 5, 6], [4, 1, 2]]
    with pytest.raises(TypeError, match="has read 2 sequences"):
        model(np.array([1, 2, 3]), after)


def test_nothing_may_stand_where_a_state_would() -> None:
    row, nothing = Model(ROWS, "last void")([4, 1])
    assert np.allclose(row, ROWS.row([4, 1]))
    assert nothing is None
