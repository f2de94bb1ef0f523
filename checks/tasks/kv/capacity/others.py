"""Room made for one sequence: what the others of its batch hold must come through."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[np.float64]
#: Tokens of three sequences, of which the shortest then gets many at once.
_LENGTHS, _SHORTEST = (6, 1, 4), 1
_STEPS = 2
#: As many as there is room for: what is right with these is right the same way.
_FEW = 2


def judge(subject: Subject, found: Findings, said: list[str], room: int, many: int) -> None:
    """Give one sequence of several more than there is room for, and go on with the others.

    Args:
        subject: The submission's cache.
        found: Gathers the evidence.
        said: What is wrong is put in front.
        room: Tokens that a cache is made for, where it can be told.
        many: Tokens that the shortest sequence gets at once.
    """
    if not subject.cached(Sizes()).ragged_by():
        return
    sizes = subject.sizes(len(_LENGTHS), room, layers=1)
    limit, where = float32_limit(subject), subject.where("append_many", "step_many", "append", "step")
    quantity = (
        f"{many} tokens at once for the shortest of {len(_LENGTHS)} sequences, {_STEPS} steps of all: "
        "largest relative error of the others"
    )
    try:
        if not _off(subject, sizes, _FEW) <= limit:
            found.note(quantity, "not judged", note="its answers are wrong before room is made")
            return
        error = _off(subject, sizes, many)
    except (Raised, BadResult, Skipped) as fault:
        found.note(quantity, "not judged", note=fault.message)
        return
    if not found.limit(quantity, error, limit, **where):
        said.insert(0, f"room made for one sequence: another one is off by {error:.2g}")


def _off(subject: Subject, sizes: Sizes, many: int) -> float:
    """The worst error of the others after the shortest sequence got ``many`` tokens more."""
    cached, longest = subject.cached(sizes), max(_LENGTHS)
    stream = drawn(subject.bench.rng("others", many), sizes, longest + many + _STEPS)
    cached.feed(*cut(stream, 0, longest), np.array(_LENGTHS))
    counts = np.zeros(len(_LENGTHS), np.int64)
    counts[_SHORTEST] = many
    cached.feed(*cut(stream, longest, longest + many), counts)
    errors = []
    for t in range(longest + many, longest + many + _STEPS):
        out = cached.feed(*cut(stream, t, t + 1))
        errors += [
            _of_row(cached, out, stream, b, [*range(n), *range(longest + many, t + 1)])
            for b, n in enumerate(_LENGTHS)
            if b != _SHORTEST
        ]
    return float("nan") if np.isnan(errors).any() else max(errors)


def _of_row(
    cached: Cached, out: Array, stream: tuple[Array, Array, Array], b: int, tokens: list[int]
) -> float:
    q, k, v = (x[b : b + 1] for x in stream)
    keys, values = k[:, :, tokens], v[:, :, tokens]
    if cached.mode == "read":
        got = cached.stored(b)
        return max(relative_error(x, y.astype(float)) for x, y in zip(got, (keys, values), strict=True))
    return relative_error(out[b : b + 1], attention(q[:, :, tokens[-1:]], keys, values))
