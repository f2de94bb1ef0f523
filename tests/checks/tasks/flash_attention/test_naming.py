"""Wrong weights are read off an answer, and the mistake behind them is told; right ones are never named."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.earlier import of_an_earlier_call
from judge_tui.checks.tasks.flash_attention.exchanged import exchanged
from judge_tui.checks.tasks.flash_attention.hiding import outweighed_hiding
from judge_tui.checks.tasks.flash_attention.rows import Rows
from judge_tui.checks.tasks.flash_attention.weighing import mistake, outline
from judge_tui.checks.tasks.flash_attention.weights import readings

#: Scores, causal mask and T of one case → the weights that a wrong answer gives.
Weigh = Callable[[Any, Any, int], Any]
SHAPES = (((1, 2, 17, 5), 4), ((2, 1, 12, 4), 4), ((1, 1, 23, 8), 6), ((1, 1, 9, 3), 2))


class Weighing:
    """A forward whose weights are made in some way."""

    def __init__(self, weigh: Weigh) -> None:
        self.weigh, self.causal = weigh, (True, False)
        self.bench = SimpleNamespace(rng=lambda *about: np.random.default_rng(len(str(about))), integers=())

    def __call__(self, case: Case) -> Any:
        scores = case.q @ case.k.swapaxes(-1, -2) / math.sqrt(case.q.shape[-1])
        seen = np.tri(scores.shape[-1], dtype=bool) | (not case.causal)
        return self.weigh(scores, seen, case.tile) @ case.v


def softmax(scores: Any, seen: Any) -> Any:
    weights = np.where(seen, np.exp(scores), 0.0)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)


def named(weigh: Weigh) -> str:
    forward: Any = Weighing(weigh)
    rows = Rows()
    for at, (shape, tile) in enumerate(SHAPES):
        for causal in forward.causal:
            case = drawn(np.random.default_rng(at), shape, tile, causal)
            rows.hold(case, forward(case))
    read = readings(forward, rows.held)
    return mistake(read) or outline(read)


def unfinished(scores: Any, seen: Any, tile: int) -> Any:
    """Keys behind the last whole tile are left out."""
    length = scores.shape[-1]
    whole = np.arange(length) < length // tile * tile
    return softmax(scores, seen & whole)


def moved(scores: Any, seen: Any, tile: int) -> Any:
    right = softmax(scores, seen)
    out, length = np.zeros_like(right), scores.shape[-1]
    for key in range(length):
        start = key // tile * tile
        other = key - tile if start else key
        out[..., other] += right[..., key]
    return out


def padded(scores: Any, seen: Any, tile: int) -> Any:
    """Places past the last key count as scores of 0 in rows that reach the last tile."""
    length = scores.shape[-1]
    last = np.arange(length)[:, None] // tile >= (length - 1) // tile
    reach = last | seen[:1, -1:]
    weights = np.where(seen, np.exp(scores), 0.0)
    return weights / (weights.sum(axis=-1, keepdims=True) + reach * float(-length % tile))


def odd(scores: Any, seen: Any, tile: int) -> Any:
    return softmax(scores, seen) * (1 + 0.1 * np.sin(np.arange(scores.shape[-1])))


NAMED: dict[str, Weigh] = {
    "row i sees keys up to i - 1": lambda s, seen, t: softmax(
        s, seen & (seen.all() | ~np.eye(s.shape[-1], dtype=bool))
    ),
    "keys behind the last whole tile are never read": unfinished,
    "V is taken from the tile before": moved,
    "places past the last key count in l, with the score 0": padded,
    "the factor 0.9": lambda s, seen, t: 0.9 * softmax(s, seen),
    "l gets 0.5 added": lambda s, seen, t: _eps(s, seen),
    "softmax runs over queries": lambda s, seen, t: (
        np.where(seen, np.exp(s), 0.0) / np.where(seen, np.exp(s), 0.0).sum(axis=-2, keepdims=True)
    ),
    "scores enter by their magnitude": lambda s, seen, t: softmax(np.abs(s), seen),
    "weights of wrong rows add up to": odd,
}


def _eps(scores: Any, seen: Any) -> Any:
    top = np.where(seen, scores, -np.inf).max(axis=-1, keepdims=True)
    weights = np.where(seen, np.exp(scores - top), 0.0)
    return weights / (weights.sum(axis=-1, keepdims=True) + 0.5)


def in_blocks(scores: Any, seen: Any, tile: int) -> Any:
    """Of each tile of rows the last half tile of keys alone is masked."""
    if seen.all():
        return softmax(scores, seen)
    length, half = scores.shape[-1], tile // 2
    rows, keys = np.arange(length)[:, None], np.arange(length)
    end = np.minimum((rows // tile + 1) * tile, length)
    last = keys // half == (end - 1) // half
    return softmax(scores, (keys < end) & (~last | (keys <= rows)))


def hides_rows(scores: Any, seen: Any, tile: int) -> Any:
    """Without the mask, rows of a last tile that is not whole are hidden, and not its keys."""
    length = scores.shape[-1]
    if not seen.all() or length % tile == 0:
        return softmax(scores, seen)
    takes = np.arange(length)[:, None] % tile < length % tile
    weights = np.where(takes | (np.arange(length) < length // tile * tile), np.exp(scores), 0.0)
    return weights / (weights.sum(axis=-1, keepdims=True) + takes * float(-length % tile))


def filled_and_short(scores: Any, seen: Any, tile: int) -> Any:
    """Zeros behind the last key count in every row, and the first key in none but the first."""
    at = np.arange(scores.shape[-1])
    weights = np.where(seen & ((at > 0) | (at[:, None] == 0)), np.exp(scores), 0.0)
    return weights / (weights.sum(axis=-1, keepdims=True) + float(-scores.shape[-1] % tile))


def walks_to_the_diagonal(scores: Any, seen: Any, tile: int) -> Any:
    """Pairs of tiles beyond the diagonal are never visited, whether or not a mask is asked for."""
    at = np.arange(scores.shape[-1]) // tile
    return softmax(scores, seen & (at <= at[:, None]))


NAMED["the mask of a last tile that is not whole hides rows of it, not keys"] = hides_rows
NAMED["zeros that fill up the last tile of keys are attended to"] = filled_and_short
NAMED["pairs of tiles beyond the diagonal are left out without the mask as well"] = walks_to_the_diagonal
NAMED["with keys in blocks of T/2: of the blocks of keys that it visits the last alone is masked"] = in_blocks


@pytest.mark.parametrize("words", NAMED)
def test_a_mistake_is_told_by_the_weights_that_it_gives(words: str) -> None:
    assert words in named(NAMED[words])


def test_a_scale_is_told_whatever_the_width_is() -> None:
    def twice(case: Case) -> Any:
        return Weighing(lambda s, seen, t: softmax(s / math.sqrt(case.q.shape[-1]), seen))(case)

    forward: Any = SimpleNamespace(bench=Weighing(softmax).bench, causal=(True, False))
    rows = Rows()
    for at, (shape, tile) in enumerate(SHAPES):
        case = drawn(np.random.default_rng(at), shape, tile, True)
        rows.hold(case, twice(case))

    class Called:
        bench, causal = forward.bench, (True, False)

        def __call__(self, case: Case) -> Any:
            return twice(case)

    called: Any = Called()
    assert "1/D (the scale twice)" in mistake(readings(called, rows.held))


def test_of_a_right_answer_nothing_is_told() -> None:
    assert named(lambda s, seen, t: softmax(s, seen)) == ""


def test_heads_of_another_place_are_told() -> None:
    right = Weighing(lambda s, seen, t: softmax(s, seen))

    class Called:
        bench, causal = right.bench, (True, False)

        def __call__(self, case: Case) -> Any:
            return right(replace(case, v=case.v[:, :1].repeat(case.v.shape[1], axis=1)))

    called: Any = Called()
    unmoved: Any = right
    assert exchanged(called) == "V of every head is taken from the first head"
    assert exchanged(unmoved) == ""


def stable(scores: Any) -> Any:
    return softmax(scores - scores.max(axis=-1, keepdims=True), True)


@pytest.mark.parametrize(
    ("hide", "words"),
    [
        (lambda s, seen: stable(np.where(seen, s, s - 40.0)), "hidden scores get -40 added, not -inf"),
        (lambda s, seen: stable(np.where(seen, s, -60.0)), "hidden keys get the score -60, not -inf"),
        (
            lambda s, seen: np.nan_to_num(
                np.exp(np.where(seen, s, -np.inf) - s.max(-1, keepdims=True))
                / np.exp(np.where(seen, s, -np.inf) - s.max(-1, keepdims=True)).sum(-1, keepdims=True)
            ),
            "the row maximum is taken before the mask",
        ),
        (lambda s, seen: stable(np.where(seen, s, -np.inf)), ""),
        (lambda s, seen: stable(np.where(seen, s, s - 1e9)), ""),
    ],
)
def test_what_stands_for_minus_infinity_is_told_where_scores_reach_it(hide: Any, words: str) -> None:
    forward: Any = Weighing(lambda s, seen, t: hide(s, seen))
    case = drawn(np.random.default_rng(1), (1, 2, 18, 4), 4, True, spread=200.0)
    told = outweighed_hiding(forward, [case])
    assert told.startswith(words)
    assert bool(told) == bool(words)


def test_of_keys_of_an_earlier_call_it_is_told_that_they_are() -> None:
    kept: dict[Any, Any] = {}
    right = Weighing(lambda s, seen, t: softmax(s, seen))

    class Called:
        causal, binding = (True, False), SimpleNamespace(file="solution.py")
        bench = SimpleNamespace(
            rng=lambda *about: np.random.default_rng(about[-1]),
            fresh=lambda: nullcontext(SimpleNamespace(load=lambda file: kept.clear())),
        )

        def __call__(self, case: Case, *, worker: Any = None) -> Any:
            return right(replace(case, k=kept.setdefault(case.k.shape, case.k)))

    called: Any = Called()
    assert of_an_earlier_call(called) == "it uses K of an earlier call of this shape in place of its own"
