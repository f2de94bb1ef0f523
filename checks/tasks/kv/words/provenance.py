"""What stands in the place of tokens that come back wrong from a pool: whose they were, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.misplaced import span

__all__ = ["Token", "provenance"]

Array = npt.NDArray[Any]
#: Who was fed a token, as which of its tokens, whether it is still there, its keys and its values, (H, D).
Token = tuple[int, int, bool, Array, Array]
#: Relative error of a row that is the same.
_SAME = 1e-2
#: Of the wrong tokens, how many a word must hold for.
_MOST = 0.7


def provenance(got: tuple[Array, Array], truth: tuple[Array, Array], sequence: int, known: Iterable[Token],
               limit: float) -> str:  # fmt: skip
    """What stands where keys and values are wrong, as a clause; empty where nothing is wrong or known.

    Args:
        got: Keys and values that were read, (H, N, D) each.
        truth: What went in.
        sequence: Whose they should be.
        known: All tokens that were fed.
        limit: Relative error of a row that is right.
    """
    wrong = [_wrong(one, other, limit) for one, other in zip(got, truth, strict=True)]
    at = np.flatnonzero(wrong[0] | wrong[1])
    if not len(at):
        return ""
    which = (
        "keys and values"
        if np.array_equal(wrong[0], wrong[1])
        else "keys"
        if not wrong[1].any()
        else "values"
    )
    side = int(which == "values" or not wrong[0].any())
    at = np.flatnonzero(wrong[side])
    held = _held(got[side][:, at], side, list(known))
    told = _told(held, at.tolist(), sequence)
    return f"{which} of {span('token', at.tolist(), got[0].shape[1])}{f' are {told}' if told else ''}"


def _wrong(got: Array, truth: Array, limit: float) -> Array:
    size = np.maximum(np.linalg.norm(truth, axis=(0, 2)), 1e-300)
    with np.errstate(invalid="ignore"):
        return np.asarray(~(np.linalg.norm(got - truth, axis=(0, 2)) <= limit * size))


def _held(rows: Array, side: int, known: list[Token]) -> list[tuple[int, int, bool] | str | None]:
    """For each wrong token (H, n, D) who was fed it, ``"zeros"``, or ``None``."""
    held: list[tuple[int, int, bool] | str | None] = []
    fed = (
        np.array([(token[4] if side else token[3]).ravel() for token in known]) if known else np.zeros((0, 1))
    )
    for i in range(rows.shape[1]):
        row = rows[:, i].ravel()
        if not row.any():
            held.append("zeros")
            continue
        apart = np.linalg.norm(fed - row, axis=1) if fed.shape[1] == len(row) else np.zeros(0)
        near = int(apart.argmin()) if len(apart) and np.isfinite(apart).all() else -1
        same = near >= 0 and apart[near] <= _SAME * np.linalg.norm(row)
        held.append(known[near][:3] if same else None)
    return held


def _told(held: list[tuple[int, int, bool] | str | None], at: list[int], sequence: int) -> str:
    enough = _MOST * len(held)
    if held.count("zeros") >= enough:
        return "zeros"
    whose = [(each, t) for each, t in zip(held, at, strict=True) if isinstance(each, tuple)]
    if len(whose) < enough:
        return ""
    own = [(each[1] - t) for each, t in whose if each[0] == sequence and each[2]]
    if len(own) >= enough:
        steps = set(own)
        if steps == {0}:
            return ""
        if len(steps) == 1 and (by := steps.pop()):
            return f"what stood {abs(by)} {'later' if by > 0 else 'earlier'}"
        first = next((t, each[1]) for each, t in whose if each[0] == sequence and each[2] and each[1] != t)
        return f"other tokens of the same sequence (token {first[0]} is its token {first[1]})"
    others = sorted({each[0] for each, _t in whose if each[2] and each[0] != sequence})
    gone = any(not each[2] for each, _t in whose)
    if others and not gone:
        names = f"sequence{'s' * (len(others) > 1)} {', '.join(map(str, others[:3]))}"
        where = " at the same places" if all(each[1] == t for each, t in whose) else ""
        return f"what {names} was fed{where}" if len(others) == 1 else f"what {names} were fed{where}"
    if others:
        return "what other sequences were fed"
    own_old = all(each[0] == sequence for each, _t in whose)
    return "tokens that it no longer has" if own_old else "what a sequence that is gone had left"
