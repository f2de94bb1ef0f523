"""Whether a wrong answer is made of what another call was given, or is added to what that one gave."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.earlier_calls import AFTER, STILL_THERE, taken_from
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import backward, cache_role, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.tolerance import relative_error

__all__ = ["of_another_call"]

Array = npt.NDArray[Any]
#: (B, T, D) and eps of the calls: what is kept may be kept for each eps.
_SHAPE, _EPS = (3, 4, 7), (1e-5, 1e-3, 1e-2, 1e-2)
_SAME, _ROUGH = 1e-6, 1e-4
#: Rows of a call that leaves something behind, and of the one that finds it.
_ROWS = (300, 2)
_NAMES = ("dx", "dgamma", "dbeta")


def of_another_call(bench: Bench, *, of_y: bool = False) -> str:
    """What of another call is in y or in the gradients, as a clause; for answers that were seen wrong.

    A process of its own is asked, in which nothing was called before: one call after the other, then both
    forwards before either backward.

    Args:
        bench: Where it is judged.
        of_y: Whether y is looked at.
    """
    gives = _y if of_y else _gradients
    batches = [draw(bench.rng("earlier", at), _SHAPE, eps_of(bench, eps)) for at, eps in enumerate(_EPS)]
    try:
        with bench.fresh() as worker:
            worker.load(bench.binding("forward").file)
            made = []
            for batch in batches:
                run = forward(bench, batch, worker=worker)
                made.append((run.y,) if of_y else _listed(backward(bench, run, worker=worker)))
            given = [_inputs(batch, of_y) for batch in batches]
            with np.errstate(all="ignore"):
                for at, (first, second) in enumerate(itertools.pairwise(given), 1):
                    known = _told(made[at], gives(first), gives(second))
                    known = known or taken_from(made[at], second, first, gives, _alike)
                    if known:
                        return "" if _alike(_alone(bench, batches[at], of_y), made[at]) else known
            if known := _still_there(bench, batches, made, of_y):
                return known
            if of_y or cache_role(bench) != "cache":
                return ""
            runs = [forward(bench, batch, worker=worker) for batch in (batches[-1], batches[-2])]
            late = _listed(backward(bench, runs[0], worker=worker))
            with np.errstate(all="ignore"):
                known = taken_from(late, second, first, gives, _alike, call=AFTER)
            return known or _left_behind(bench, worker)
    except Fault:
        return ""


def _left_behind(bench: Bench, worker: Worker) -> str:
    """Whether a call of few rows whose dy is 0 gives what one of more rows left where sums are gathered."""
    told: dict[str, int] = {}
    for name in _NAMES[1:]:
        many, few = (draw(bench.rng("left", rows), (1, rows, 7), eps_of(bench, 1e-3)) for rows in _ROWS)
        size = np.arange(1.0, 1.0 + many.width)
        xhat = reference.statistics(many).xhat
        # each row adds the same number to a sum, so that what is left counts rows
        many = replace(many, dy=size / (xhat if name == "dgamma" else np.ones_like(xhat)))
        backward(bench, forward(bench, many, worker=worker), worker=worker)
        run = forward(bench, replace(few, dy=np.zeros_like(few.dy)), worker=worker)
        left = getattr(backward(bench, run, worker=worker), name) / size
        if not np.isfinite(left).all() or np.abs(left - np.round(left[0])).max() > _ROUGH:
            return ""
        told[name] = int(np.round(left[0]))
    names = [name for name, rows in told.items() if rows]
    if not names:
        return ""
    take, rows = "takes" if len(names) == 1 else "take", f"{told[names[0]]} of its {_ROWS[0]} rows"
    return (
        f"{' and '.join(names)} of a call of {_ROWS[1]} rows {take} in what a call of more rows before it "
        f"left behind ({rows}): not every place that is summed has been written"
    )


def _still_there(
    bench: Bench, batches: Sequence[Batch], made: Sequence[tuple[Array, ...]], of_y: bool
) -> str:
    """Whether the first call is right, and a later one is that is right where it is the first."""
    for batch, given in zip(batches, made, strict=True):
        truth = (_y if of_y else _gradients)(_inputs(batch, of_y))
        if not _alike(given, truth):
            later = batch is not batches[0] and _alike(_alone(bench, batch, of_y), truth)
            return STILL_THERE if later else ""
    return ""


def _alone(bench: Bench, batch: Batch, of_y: bool) -> tuple[Array, ...]:
    """The answer where nothing was called before: what is the same then hangs on no other call."""
    with bench.fresh() as worker:
        worker.load(bench.binding("forward").file)
        run = forward(bench, batch, worker=worker)
        return (run.y,) if of_y else _listed(backward(bench, run, worker=worker))


def _told(made: tuple[Array, ...], before: tuple[Array, ...], right: tuple[Array, ...]) -> str:
    """Which gradients are added to what the call before gave."""
    added = [
        name
        for name, given, one, two in zip(_NAMES, made, before, right, strict=False)
        if _alike((given,), (one + two,))
    ]
    are = "is" if len(added) == 1 else "are"
    return f"{', '.join(added)} {are} added to what the call before gave" if added else ""


def _inputs(batch: Batch, of_y: bool) -> dict[str, Any]:
    if of_y:
        return {"x": batch.x, "gamma": batch.gamma, "beta": batch.beta, "eps": batch.eps}
    row = reference.statistics(batch)
    return {"x̂": row.xhat, "rstd": row.rstd, "gamma": batch.gamma, "dy": batch.dy}


def _y(inputs: Mapping[str, Any]) -> tuple[Array, ...]:
    x, gamma, beta, eps = (inputs[name] for name in ("x", "gamma", "beta", "eps"))
    return (reference.forward(Batch(x, gamma, beta, eps, np.zeros_like(x))),)


def _gradients(inputs: Mapping[str, Any]) -> tuple[Array, ...]:
    xhat, dy = inputs["x̂"], inputs["dy"]
    g = dy * inputs["gamma"]
    along = xhat * (g * xhat).mean(axis=-1, keepdims=True)
    dx = inputs["rstd"] * (g - g.mean(axis=-1, keepdims=True) - along)
    return dx, (dy * xhat).sum(axis=(0, 1)), dy.sum(axis=(0, 1))


def _listed(made: reference.Gradients) -> tuple[Array, ...]:
    return made.dx, made.dgamma, made.dbeta


def _alike(made: tuple[Array, ...], wanted: tuple[Array, ...]) -> bool:
    return all(
        relative_error(one, other, axis=-1 if one.ndim > 1 else 0) <= _SAME
        for one, other in zip(made, wanted, strict=True)
    )
