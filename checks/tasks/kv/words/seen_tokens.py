"""Which tokens a wrong row of several that go past a window sees, and should not, or the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.misplaced import span
from judge_tui.checks.tolerance import relative_error

__all__ = ["row_causes", "weight_causes"]

Array = npt.NDArray[Any]
#: Which weight is seen.
_SEEN = 1e-5
#: What gives all rows, (S, W), where a token is another one, or none (-1), and tokens come in such calls.
Run = Callable[[int, Sequence[int]], Array]


def row_causes(run: Run, calls: Sequence[int], alone: Sequence[int], width: int, limit: float) -> str:
    """What the first wrong row of such calls sees, as a clause; empty where nothing is wrong.

    Args:
        run: Runs a new decoder of one layer.
        calls: Tokens of each call.
        alone: Calls whose rows are right.
        width: Tokens of the window.
        limit: Relative error of a right row.
    """
    rows, truth = run(-1, calls), run(-1, alone)
    given = [n for n in range(len(rows)) if not np.isnan([rows[n], truth[n]]).all(axis=1).any()]
    wrong = next((n for n in given if not relative_error(rows[n], truth[n]) <= limit), -1)
    if wrong < 0:
        return ""
    starts = np.cumsum([0, *calls]).tolist()
    start, end = next(call for call in pairwise(starts) if call[0] <= wrong < call[1])
    places = range(max(0, wrong - 2 * width), end)
    sees = [j for j in places if (run(j, calls)[wrong] != rows[wrong]).any()]
    should = [j for j in places if (run(j, alone)[wrong] != truth[wrong]).any()]
    return _told(wrong, (start, end), sees, should, width)


def weight_causes(run: Callable[[Array], Array | None], stream: Sequence[Array], calls: Sequence[int],
                  wrong: int, width: int) -> str:  # fmt: skip
    """What a wrong row of such calls weighs, of a cache that is handed keys and values; empty if nothing is.

    Args:
        run: Gives the answers, (B, H, S, D), where tokens have other values.
        stream: Queries, keys and values, (B, H, S, D).
        calls: Tokens of each call.
        wrong: The row.
        width: Tokens of the window.
    """
    values = stream[2]
    tokens, wide = values.shape[2:]
    weights = np.zeros(tokens)
    for first in range(0, tokens, wide):
        shown = np.arange(first, min(first + wide, tokens))
        one_hot = np.zeros_like(values)
        one_hot[:, :, shown, shown - first] = 1
        out = run(one_hot)
        if out is None or not np.isfinite(out).all():
            return ""
        weights[shown] = np.abs(out[:, :, wrong]).max(axis=(0, 1))[: len(shown)]
    sees = np.flatnonzero(weights > _SEEN).tolist()
    starts = np.cumsum([0, *calls]).tolist()
    call = next(call for call in pairwise(starts) if call[0] <= wrong < call[1])
    should = list(range(max(0, wrong - width + 1), wrong + 1))
    return _told(wrong, call, sees, should, width)


def _told(wrong: int, call: tuple[int, int], sees: list[int], should: list[int], width: int) -> str:
    (start, end), missing, more = call, sorted({*should} - {*sees}), sorted({*sees} - {*should})
    which = f"token {wrong}, number {wrong - start + 1} of {end - start} that come behind {start}: it"
    if not missing and not more:
        return f"{which} sees the tokens that a step does, but as if they stood elsewhere"
    if sees == _by_slots(wrong, start, width):
        return f"{which} takes what is held before its call in the order of slots, not of age"
    told = []
    if missing:
        taken = missing == [j for j in should if wrong < j + width < end]
        by = ", whose places later tokens of the same call have taken before it attends" if taken else ""
        told.append(f"does not see {span('token', missing, end)}{by}")
    if behind := [j for j in more if j > wrong]:
        told.append(f"sees {span('token', behind, end)} behind its own")
    if before := [j for j in more if j < wrong]:
        told.append(f"sees {span('token', before, end)}, which a window of {width} leaves behind")
    return f"{which} {' and '.join(told)}"


def _by_slots(wrong: int, start: int, width: int) -> list[int]:
    """What a row of a call sees where the window before it is read from a ring in the order of its slots."""
    held = sorted(range(max(0, start - width), start), key=lambda token: token % width)
    stand = range(start - len(held), start)
    past = [token for token, at in zip(held, stand, strict=True) if at > wrong - width]
    return sorted([*past, *range(start, wrong + 1)])
