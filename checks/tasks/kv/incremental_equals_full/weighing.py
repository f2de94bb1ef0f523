"""The weights that rows of a wrong answer give to what is stored, read off with values that are one-hot.

Attention is linear in V: where the value of a token is a column of the identity, the answer holds the
weight of that token. A head that is narrower than there are tokens is asked several times, a part of the
tokens at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.incremental_equals_full.weight_heads import other_heads
from judge_tui.checks.tasks.kv.incremental_equals_full.weight_words import weight_words
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.head_maps import cause
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows
from judge_tui.checks.tolerance import same_bits

__all__ = ["weighed"]

Array = npt.NDArray[Any]
#: Calls of all runs, and the share of the budget that must be left.
_CALLS, _LEFT = 400, 0.3
#: How far from linear in V an answer may be.
_LINEAR = 1e-3


def weighed(
    subject: Subject, ask: Callable[[Array], Array], out: Array, given: tuple[Array, ...], calls: int
) -> str:
    """What is wrong with the weights of a case that is wrong, as a clause; empty where none is found.

    Args:
        subject: What is judged.
        ask: Runs the case anew with other values, as (B, G, S, D); gives (B, H, T, D).
        out: What it gave, (B, H, T, D).
        given: Queries of the rows (B, H, T, D), and all keys and values (B, G, S, D).
        calls: Calls of one run.
    """
    q, k, v = given
    bench, width = subject.bench, v.shape[-1]
    runs = -(-v.shape[2] // width)
    if runs * calls > _CALLS or bench.left < _LEFT * bench.budget:
        return ""
    made = np.zeros((*q.shape[:3], v.shape[2]))
    try:
        for start, values in _one_hot(v):
            columns = min(width, v.shape[2] - start)
            answer = ask(values)
            if not np.isfinite(out).all():
                # what is not a number is the same whatever goes in
                return ""
            if same_bits(answer, out):
                return "other values give the same answer, as if it were remembered"
            made[..., start : start + columns] = answer[..., :columns]
    except Fault:
        return ""
    values = np.repeat(v.astype(np.float64), q.shape[1] // v.shape[1], axis=1)
    keys = np.repeat(k.astype(np.float64), q.shape[1] // k.shape[1], axis=1)
    scores = q.astype(np.float64) @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    visible = causal_rows(q.shape[2], k.shape[2])
    truth = attention(q, k, v, visible=visible)
    if told := other_heads(out, truth, _LINEAR) or (cause(out, q, k, v, visible) if q.shape[1] > 1 else ""):
        return told
    with np.errstate(all="ignore"):
        apart = float(np.abs(made @ values - out).max())
    if not apart <= _LINEAR * max(1.0, float(np.abs(out).max())):
        return ""
    return weight_words(made, scores)


def _one_hot(v: Array) -> Iterator[tuple[int, Array]]:
    """The first token that a run shows, and values of which those behind it are columns of the identity."""
    tokens, width = v.shape[2:]
    for start in range(0, tokens, width):
        shown = np.arange(start, min(start + width, tokens))
        values = np.zeros_like(v)
        values[:, :, shown, shown - start] = 1
        yield start, values
