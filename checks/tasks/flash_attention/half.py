"""What float16 shows of the rescaling: exp overflows at 11.09, so the wrong direction shows in few tiles.

Evidence beside the checks in wider types, and a warning at most: the challenge asks for
float32 and float64, and code may compute in a wider type than it is handed.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault, NotPortable
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array, largest_score, plain
from judge_tui.checks.tolerance import calibrated, relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["half_precision", "recurrence"]

Direction = Literal["right", "reversed", "upscaling"]

#: Rise of the scores over all tiles, past the largest argument of exp in float16, 11.09.
_RISE = 24.0
_LENGTH, _TILE, _WIDTH = 72, 8, 8
_KINDS = ("rising", "falling", "constant")
#: As for the wider types: rounding of a score s moves its weight by eps · |s|.
_PER_SCORE = 8.0


def half_precision(bench: Bench, found: Findings, forward: Forward) -> bool:
    """Hold O of float16 inputs against the reference while maxima rise, fall and stay.

    Args:
        bench: Where it is called.
        found: Where the figures go; the verdict is ``warn`` at most.
        forward: The submission's forward.

    Returns:
        Whether it is right in float16; also where it takes no float16.
    """
    rows: list[tuple[str, ...]] = [
        ("maxima", "the submission", "limit", "right in float16", "reversed", "upscaling")
    ]
    right, worst = True, 0.0
    for kind in _KINDS:
        case = _case(bench, kind, forward.causal[-1])
        try:
            out = forward(case)
        except NotPortable:
            raise
        except Fault as fault:
            found.note("O in float16", "not computed", note=f"It {fault.message}.")
            return True
        error, limit = relative_error(out, case.truth), _limit(case)
        right = right and bool(error <= limit)
        worst = float("nan") if error != error or worst != worst else max(worst, error)
        directions: tuple[Direction, ...] = ("right", "reversed", "upscaling")
        beside = [relative_error(recurrence(case, d), case.truth) for d in directions]
        rows.append((kind, *(f"{value:.3g}" for value in (error, limit, *beside))))
    found.claim(
        "O in float16, relative error per row",
        right, measured=worst, otherwise=Verdict.WARN, table=tuple(rows),
        note=f"Scores rise by {_RISE:g} over {_LENGTH // _TILE} tiles; exp overflows float16 at 11.09.",
        **forward.place,
    )  # fmt: skip
    return right


def _case(bench: Bench, kind: str, causal: bool) -> Case:
    rng = bench.rng("float16", kind)
    place = np.arange(_LENGTH) / _LENGTH
    level = {
        "rising": _RISE * place,
        "falling": _RISE * (1 - place),
        # The same key every few places, so that a row meets its maximum in every tile.
        "constant": np.where(np.arange(_LENGTH) % 4, 0.0, _RISE),
    }[kind]
    q, k, v = (rng.standard_normal((1, 2, _LENGTH, _WIDTH)) for _ in range(3))
    q[..., 0] = rng.uniform(0.9, 1.1, _LENGTH)
    k[..., 0] = level * _WIDTH**0.5
    if kind == "constant":
        k[:, :, ::4] = k[:, :, :1]
        q[..., 1:] *= 0.3
    half = [value.astype(np.float16) for value in (q, k, v)]
    return Case(half[0], half[1], half[2], _TILE, causal, f"float16, maxima {kind}")


def _limit(case: Case) -> float:
    with np.errstate(all="ignore"):
        error = relative_error(plain(case.q, case.k, case.v, case.causal, np.float16), case.truth)
        score = largest_score(case.q, case.k, case.causal)
    floor = _PER_SCORE * float(np.finfo(np.float16).eps) * score
    return calibrated(error if error == error else 0.0, np.float16, floor=floor)


def recurrence(case: Case, direction: Direction) -> Array:
    """The tiled recurrence in float16 throughout.

    Args:
        case: Inputs and tile.
        direction: ``right`` scales what was summed by exp(m_old − m_new), ``reversed`` by its inverse;
            ``upscaling`` keeps the first maximum and leaves later tiles as large as they are.

    Returns:
        O (B, H, N, D), float64; not finite where float16 overflows.
    """
    half = np.float16
    q, k, v = (value.astype(half) for value in (case.q, case.k, case.v))
    hidden = np.triu(np.ones((q.shape[2], k.shape[2]), dtype=bool), 1) & case.causal
    m = np.full((*q.shape[:3], 1), -np.inf, half)
    total, out = np.zeros_like(m), np.zeros_like(q)
    with np.errstate(all="ignore"):
        for start in range(0, k.shape[2], case.tile):
            part = slice(start, start + case.tile)
            scores = (q @ k[:, :, part].swapaxes(-1, -2)) * half(q.shape[-1] ** -0.5)
            scores = np.where(hidden[:, part], half(-np.inf), scores)
            new = np.maximum(m, scores.max(axis=-1, keepdims=True))
            if direction == "upscaling":
                new = np.where(np.isfinite(m), m, new)
            guarded = np.where(np.isfinite(new), new, half(0))
            change = np.where(np.isfinite(m), m - guarded, half(0))
            factor = np.exp(-change if direction == "reversed" else change)
            weights = np.exp(scores - guarded)
            total = total * factor + weights.sum(axis=-1, keepdims=True, dtype=half)
            out = out * factor + weights @ v[:, :, part]
            m = new
        return np.asarray(out / total, dtype=np.float64)
