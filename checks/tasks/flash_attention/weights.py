"""The weights that an answer gives to values, read off with columns of the identity in their place.

O is linear in V: with V = I it is the matrix of weights itself. Of a wrong answer this shows
more than O does: which keys a row sees, how much a tile of them weighs, what a row adds up to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.rows import Held
from judge_tui.checks.tasks.flash_attention.scales import by_widths
from judge_tui.checks.verdict import Verdict

__all__ = ["Read", "alike", "readings", "softmax", "suited"]

#: What counts as the same row of weights, and how far from linear an answer may be.
_SAME, _LINEAR = 1e-6, 1e-6
#: Cases that are read, lengths of them, calls that one takes, and weights that it has at most.
_MOST, _LENGTHS, _CALLS, _WEIGHTS = 4, (3, 600), 90, 1_000_000
#: Calls of a cheap one, and of all of them.
_CHEAP, _CALLS_IN_ALL = 12, 150


@dataclass(frozen=True, slots=True)
class Read:
    """The weights of one case.

    Attributes:
        case: Its queries and keys; V is what O was held against.
        made: The weights that its O gives to values (B, H, N, N).
        scores: Scaled scores, nothing hidden (B, H, N, N).
        seen: Which keys a row may see (N, N).
        right: The weights that are right (B, H, N, N).
    """

    case: Case
    made: Array
    scores: Array
    seen: npt.NDArray[np.bool_]
    right: Array

    @property
    def length(self) -> int:
        """N."""
        return int(self.case.q.shape[2])

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Rows (B, H, N) whose weights are not the right ones."""
        return ~_same_rows(self.made, self.right)


def softmax(scores: Array, seen: npt.NDArray[np.bool_] | None = None) -> Array:
    """Weights of each row over the keys that it sees; 0 in a row that sees none.

    Args:
        scores: (..., N, N).
        seen: (N, N) or more axes; all when left out.
    """
    hidden = scores if seen is None else np.where(seen, scores, -np.inf)
    top = hidden.max(axis=-1, keepdims=True)
    weights = np.exp(hidden - np.where(np.isfinite(top), top, 0.0))
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0))


def alike(made: Array, wanted: Array) -> bool:
    """Whether every row of weights is another's, but for rounding."""
    return made.shape == wanted.shape and bool(_same_rows(made, wanted).all())


def _same_rows(made: Array, wanted: Array) -> npt.NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        size = np.maximum(np.linalg.norm(wanted, axis=-1), np.linalg.norm(made, axis=-1))
        return np.asarray(np.linalg.norm(made - wanted, axis=-1) <= _SAME * size)


def readings(forward: Forward, held: list[Held], *, spread: float = 1.5) -> list[Read]:
    """Weights of a few cases of the sizes that were seen wrong, drawn anew, and wrong again.

    Args:
        forward: What is called.
        held: All cases.
        spread: What scores are multiplied by.

    Returns:
        Empty where no plain case is wrong, or where O is not linear in V.
    """
    found: list[Read] = []
    calls = 0
    try:
        for at, (length, width, wrong) in enumerate(suited(held)):
            rng = forward.bench.rng("weights", at, str(spread))
            case = drawn(rng, wrong.q.shape, wrong.tile, wrong.causal, spread=spread)
            case = replace(case, key_tile=wrong.key_tile)
            calls += -(-length // width) + 1
            if calls > _CALLS_IN_ALL:
                break
            read = _read(forward, case)
            if read is None:
                return []
            found += [read] if read.wrong.any() else []
            if len(found) == _MOST:
                break
    except Fault:
        return []
    return found


def suited(held: list[Held]) -> Iterator[tuple[int, int, Case]]:
    """N, D and the case of wrong ones that are cheap to read: several tiles first, causal or not by turns."""
    wrong = [each.case for each in held if each.verdict is Verdict.FAIL]
    plain = [case for case in wrong if case.plain] or [case for case in wrong if case.of_source]
    usual: dict[tuple[bool, bool, tuple[int, ...]], Case] = {}
    for case in plain:
        batch, heads, length, width = case.q.shape
        fits = _LENGTHS[0] <= length <= _LENGTHS[1] and -(-length // width) <= _CALLS
        if case.q.dtype == np.float64 and fits and batch * heads * length**2 <= _WEIGHTS:
            usual.setdefault((case.causal, length > case.tile, (length % case.tile, length, width)), case)
    kinds = [[case for (causal, _, _), case in usual.items() if causal is kind] for kind in (False, True)]
    kinds = [_a_long_one(by_widths(cases, lambda case: case.q.shape[3], _cost)) for cases in kinds]
    yield from (
        (case.q.shape[2], case.q.shape[3], case)
        for at in range(max(map(len, kinds)))
        for cases in kinds
        for case in cases[at : at + 1]
    )


def _a_long_one(cases: list[Case]) -> list[Case]:
    """The cases, the longest of the cheap ones second: what comes again and again along N shows there."""
    cheap = [case for case in cases[1:] if not any(_cost(case)[:2]) and _cost(case)[2] <= _CHEAP]
    if not cheap:
        return cases
    long = max(cheap, key=lambda case: case.q.shape[2])
    return [cases[0], long, *(case for case in cases[1:] if case is not long)]


def _cost(case: Case) -> tuple[bool, bool, int]:
    """Several tiles that are more than a row each, then few calls of many rows."""
    length, width = case.q.shape[2:]
    odd = not 2 <= case.tile < length
    short = length < 3 * case.tile and length < 60
    return odd, short, -(-length // width)


def _read(forward: Forward, case: Case) -> Read | None:
    length, width = case.q.shape[2:]
    made = np.zeros((*case.q.shape[:2], length, length))
    for start in range(0, length, width):
        columns = min(width, length - start)
        values = np.zeros(case.v.shape)
        values[:, :, np.arange(start, start + columns), np.arange(columns)] = 1.0
        made[..., start : start + columns] = forward(replace(case, v=values))[..., :columns]
    out = forward(case)
    with np.errstate(all="ignore"):
        far = np.abs(made @ case.v - out).max() > _LINEAR * max(1.0, float(np.abs(out).max()))
    if not np.isfinite(made).all() or not np.isfinite(out).all() or far:
        return None
    scores = np.asarray(case.q @ case.k.swapaxes(-1, -2) / np.sqrt(width))
    seen = np.tri(length, dtype=bool) if case.causal else np.ones((length, length), dtype=bool)
    return Read(case, made, scores, seen, softmax(scores, seen))
