"""What types narrower than float32 show: accuracy in them, and the rescaling where their exp overflows.

exp overflows float16 at 11.09 and bfloat16 at 88.72, so the wrong direction shows in few tiles. All of it is
evidence beside the checks in wider types, and a warning at most: the challenge asks for float32 and
float64, and code may compute in a wider type than it is handed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from judge_tui.checks import bfloat16
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array, largest_score
from judge_tui.checks.tolerance import calibrated, relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["NARROW", "Narrow", "narrow_accuracy", "narrow_rescaling", "recurrence"]

Direction = Literal["right", "reversed", "upscaling"]


@dataclass(frozen=True, slots=True)
class Narrow:
    """A floating-point type of sixteen bits.

    Attributes:
        name: As NumPy or ml_dtypes has it.
        eps: From 1 to the next number.
        largest: The largest argument of exp whose result it holds.
        rise: Of the scores over all tiles; past ``largest`` when the first tile is taken off, too.
        held: Numbers as they are handed over in it.
        rounded: float32 numbers to those that it holds, in float32.
    """

    name: str
    eps: float
    largest: float
    rise: float
    held: Callable[[Array], Any]
    rounded: Callable[[Array], Array]


def _float16(values: Array) -> Array:
    return np.asarray(values, np.float16).astype(np.float32)


def _bfloat16(values: Array) -> Array:
    return bfloat16.rounded(values).view(np.ndarray)


NARROW = (
    Narrow("float16", 2.0**-10, 11.09, 24.0, lambda values: values.astype(np.float16), _float16),
    Narrow("bfloat16", 2.0**-7, 88.72, 128.0, bfloat16.rounded, _bfloat16),
)
_LENGTH, _TILE, _WIDTH = 72, 8, 8
_KINDS = ("rising", "falling", "constant")
_SHAPES = (((2, 2, 13, 8), 4), ((1, 3, 22, 6), 7), ((1, 2, 150, 16), 64))
#: As for the wider types: rounding of a score s moves its weight by eps · |s|.
_PER_SCORE = 8.0
_Row = tuple[str, ...]


def narrow_accuracy(bench: Bench, found: Findings, forward: Forward) -> None:
    """Hold O of float16 and bfloat16 inputs against the reference, causal and not.

    Args:
        bench: Where it is called.
        found: Where the figures go; the verdict is ``warn`` at most.
        forward: The submission's forward.
    """
    with bench.fresh(beyond=True) as worker:
        for narrow in NARROW:
            cases = [
                _in(narrow, drawn(bench.rng(narrow.name, index, causal), shape, tile, causal))
                for causal in forward.causal
                for index, (shape, tile) in enumerate(_SHAPES)
            ]
            _judged(found, forward, worker, narrow, cases, "O")


def narrow_rescaling(bench: Bench, found: Findings, forward: Forward) -> None:
    """Hold O of float16 and bfloat16 inputs against the reference while maxima rise, fall and stay.

    Args:
        bench: Where it is called.
        found: Where the figures go, beside those of wrong recurrences; the verdict is ``warn`` at most.
        forward: The submission's forward.
    """
    with bench.fresh(beyond=True) as worker:
        for narrow in NARROW:
            cases = [_ramp(bench, narrow, kind, forward.causal[-1]) for kind in _KINDS]
            _judged(
                found, forward, worker, narrow, cases, "O while maxima rise, fall and stay", beside=True,
                note=f"Scores rise by {narrow.rise:g} over {_LENGTH // _TILE} tiles; exp overflows "
                f"{narrow.name} at {narrow.largest:g}.",
            )  # fmt: skip


def _judged(
    found: Findings,
    forward: Forward,
    worker: Worker,
    narrow: Narrow,
    cases: Sequence[Case],
    what: str,
    *,
    beside: bool = False,
    note: str = "",
) -> None:
    """One claim for all cases in a type; what it does not take decides nothing."""
    quantity = f"{what}, in {narrow.name}"
    directions: tuple[Direction, ...] = ("reversed", "upscaling") if beside else ()
    rows: list[_Row] = [("case", "the submission", "limit", "right", *directions)]
    right, worst = True, 0.0
    for case in cases:
        try:
            if not worker.alive:
                raise Fault("ended its process")
            worker.load(forward.binding.file)
            error = relative_error(forward(case, worker=worker), case.truth)
        except Fault as fault:
            found.note(quantity, "not computed", note=f"It {fault.placed}.")
            return
        sound = relative_error(recurrence(case, narrow), case.truth)
        limit = _limit(case, narrow, sound)
        right = right and bool(error <= limit)
        worst = float("nan") if error != error or worst != worst else max(worst, error)
        others = [relative_error(recurrence(case, narrow, each), case.truth) for each in directions]
        rows.append((case.name or str(case), *(f"{value:.3g}" for value in (error, limit, sound, *others))))
    found.claim(
        f"{quantity}, relative error per row", right, measured=worst, otherwise=Verdict.WARN,
        table=tuple(rows), note=note, **forward.place,
    )  # fmt: skip


def _in(narrow: Narrow, case: Case) -> Case:
    """A case with its inputs in a type."""
    q, k, v = (narrow.held(value) for value in (case.q, case.k, case.v))
    return replace(case, q=q, k=k, v=v)


def _ramp(bench: Bench, narrow: Narrow, kind: str, causal: bool) -> Case:
    rng = bench.rng(narrow.name, kind)
    place = np.arange(_LENGTH) / _LENGTH
    level = {
        "rising": narrow.rise * place,
        "falling": narrow.rise * (1 - place),
        # The same key every few places, so that a row meets its maximum in every tile.
        "constant": np.where(np.arange(_LENGTH) % 4, 0.0, narrow.rise),
    }[kind]
    q, k, v = (rng.standard_normal((1, 2, _LENGTH, _WIDTH)) for _ in range(3))
    q[..., 0] = rng.uniform(0.9, 1.1, _LENGTH)
    k[..., 0] = level * _WIDTH**0.5
    if kind == "constant":
        k[:, :, ::4] = k[:, :, :1]
        q[..., 1:] *= 0.3
    return _in(narrow, Case(q, k, v, _TILE, causal, f"maxima {kind}"))


def _limit(case: Case, narrow: Narrow, sound: float) -> float:
    floor = _PER_SCORE * narrow.eps * max(1.0, largest_score(case.q, case.k, case.causal))
    return calibrated(sound if sound == sound else 0.0, np.float16, floor=floor)


def recurrence(case: Case, narrow: Narrow, direction: Direction = "right") -> Array:
    """The tiled recurrence in a narrow type throughout: every result is rounded to it.

    Args:
        case: Inputs and tile.
        narrow: The type.
        direction: ``right`` scales what was summed by exp(m_old − m_new), ``reversed`` by its inverse;
            ``upscaling`` keeps the first maximum and leaves later tiles as large as they are.

    Returns:
        O (B, H, N, D), float64; not finite where the type overflows.
    """
    of = narrow.rounded
    q, k, v = (np.asarray(value, np.float32) for value in (case.q, case.k, case.v))
    scale = of(np.array(q.shape[-1] ** -0.5, np.float32))
    hidden = np.triu(np.ones((q.shape[2], k.shape[2]), dtype=bool), 1) & case.causal
    m = np.full((*q.shape[:3], 1), -np.inf, np.float32)
    total, out = np.zeros_like(m), np.zeros_like(q)
    with np.errstate(all="ignore"):
        for start in range(0, k.shape[2], case.tile):
            part = slice(start, start + case.tile)
            scores = of(of(q @ k[:, :, part].swapaxes(-1, -2)) * scale)
            scores = np.where(hidden[:, part], np.float32(-np.inf), scores)
            new = np.maximum(m, scores.max(axis=-1, keepdims=True))
            if direction == "upscaling":
                new = np.where(np.isfinite(m), m, new)
            guarded = np.where(np.isfinite(new), new, np.float32(0))
            change = of(np.where(np.isfinite(m), m - guarded, np.float32(0)))
            factor = of(np.exp(-change if direction == "reversed" else change))
            weights = of(np.exp(of(scores - guarded)))
            total = of(of(total * factor) + of(weights.sum(axis=-1, keepdims=True)))
            out = of(of(out * factor) + of(weights @ v[:, :, part]))
            m = new
        return np.asarray(of(out / total), dtype=np.float64)
