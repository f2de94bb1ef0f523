"""y against the truth: shapes, dtypes, rows whose variance is near eps."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.answers import Answer
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.backwards import diagnosis, reference
from judge_tui.checks.tasks.backwards.counted import wrong_places
from judge_tui.checks.tasks.backwards.earlier import of_another_call
from judge_tui.checks.tasks.backwards.equal_axes import equal_axes
from judge_tui.checks.tasks.backwards.laid_wrongly import laid_wrongly
from judge_tui.checks.tasks.backwards.limits import Held, coarse, counted, hold
from judge_tui.checks.tasks.backwards.lowered import lower_precision
from judge_tui.checks.tasks.backwards.other_rows import normalised_by_others
from judge_tui.checks.tasks.backwards.passes import (
    STATED,
    about,
    affordable,
    draw,
    drawn,
    eps_of,
    forward,
    narrowing,
    own_sizes,
    release,
    strided,
    swept,
)
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.tasks.backwards.source import place
from judge_tui.checks.tasks.backwards.statistics_read import wrong_statistics
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.unanswered import Unanswered
from judge_tui.checks.verdict import Verdict

__all__ = ["forward_accuracy"]


@check(
    "forward_accuracy",
    "y against the reference",
    establishes="y is right over random shapes, eps and gamma, in float32 and float64, and where var ≈ eps.",
    roles=("forward",),
    version=15,
)
def forward_accuracy(bench: Bench, found: Findings) -> str:
    """Compare y row by row, in this process and in a fresh one."""
    double = Held("y, relative error of gamma·x̂ per row, float64 input")
    single = Held("y, relative error of gamma·x̂ per row, float32 input")
    causes: list[tuple[str, ...]] = []
    draws, calls, own = list(drawn(bench.sizes("draws"))), Unanswered(), own_sizes(bench)
    for index, (shape, eps) in enumerate(draws):
        batch = draw(bench.rng(index), shape, eps_of(bench, eps))
        with calls.trying(counted(shape)):
            _compare(bench, double, batch, causes)
    for index, (shape, eps) in enumerate(swept()):
        with calls.trying(counted(shape)):
            _compare(bench, double, draw(bench.rng("swept", index), shape, eps_of(bench, eps)), causes)
    calls.needed(double.seen)
    usual = bool(double.off)
    for batch, words in strided(bench):
        with calls.trying(counted(batch.shape)):
            _compare(bench, double, batch, causes, special=words)
    with calls.trying(counted(STATED)):
        if affordable(bench, found):
            with own.pace(math.prod(STATED)):
                _compare(bench, double, draw(bench.rng("stated"), STATED, eps_of(bench, 1e-5)), causes)
    for batch, one in about(bench, own):
        with calls.trying(counted(batch.shape)), own.trying(one, batch.x.size):
            _compare(bench, double, batch, causes, special=str(one))
    batch = draw(bench.rng("fresh"), draws[0][0], eps_of(bench, 1e-4))
    with calls.beside(), bench.fresh() as worker:
        _compare(bench, double, batch, causes, worker=worker)
    for index, (shape, eps) in enumerate(draws[:2]):
        batch = draw(bench.rng("float32", index), shape, eps_of(bench, eps)).as_type(np.float32)
        with calls.beside():
            _compare(bench, single, batch, [])
    why = _known(bench, double, causes, usual)
    with calls.beside():
        for batch in () if why else narrowing(bench, [double]):
            _compare(bench, double, batch, causes)
    why = why or _places(bench, double)
    file, line = place(bench, "forward", "y")
    hold(found, double, file=file, line=line, note=why)
    if single.count:
        hold(found, single, file=file, line=line)
    own.tell(found)
    if not bench.binding("forward").takes("eps"):
        found.note("eps, a constant of the submission", eps_of(bench, 0.0))
    worst = double if found.evidence[0].ok is False or found.verdict is Verdict.PASS else single
    told = f"y {worst.error:.2g} off the reference, worst of {double.count + single.count} draws"
    why = coarse(worst.error) if found.verdict is Verdict.WARN else why
    return calls.tell(found, f"{told} (limit {worst.limit:.1e})" + (f": {why}" if why else ""))


def _places(bench: Bench, held: Held) -> str:
    """For which sizes y is wrong, and in which rows or features."""
    shapes = [shape for shape, fine in held.seen if not fine]
    told = normalised_by_others(bench, shapes, of_y=True) or wrong_statistics(bench, shapes)
    told = told or wrong_places(bench, shapes, of_y=True)
    where = held.only_where or (equal_axes(bench, "y") if shapes else "")
    return "; ".join(filter(None, (told, where)))


def _known(bench: Bench, held: Held, causes: Sequence[tuple[str, ...]], usual: bool) -> str:
    """What explains all of a wrong y, which may be wrong in the usual order of memory."""
    if not held.off:
        return ""
    state = of_another_call(bench, of_y=True) if held.wrong else ""
    memory = "" if usual else laid_wrongly(bench, of_y=True)
    if not state and (known := diagnosis.common(causes)):
        return "; ".join(filter(None, (known, held.only_where)))
    return state or memory or _lower_precision(bench, held)


def _lower_precision(bench: Bench, held: Held) -> str:
    found = lower_precision(bench, gradients=False) if held.off else None
    return found.text if found is not None and found.explains(held.off, held.count) else ""


def _compare(
    bench: Bench,
    held: Held,
    batch: Batch,
    causes: list[tuple[str, ...]],
    *,
    worker: Worker | None = None,
    special: str = "",
) -> None:
    with contextlib.nullcontext(Answer()) if worker else bench.answers.one() as answer:
        run = forward(bench, batch, worker=worker)
        y = run.y
        if worker is None:
            release(bench, [run])
        answer.fine = _held(held, batch, y, causes, special)


def _held(
    held: Held, batch: Batch, y: npt.NDArray[np.float64], causes: list[tuple[str, ...]], special: str
) -> bool:
    """Whether y of a batch is right, float32's limit counted."""
    truth, beta = reference.forward(batch), batch.beta.astype(np.float64)
    dtype = batch.x.dtype
    plain = relative_error(reference.plain(batch)[0].astype(np.float64) - beta, truth - beta)
    low = reference.plain(batch.as_type(np.float32))[0].astype(np.float64)
    single = relative_error(low - beta, truth - beta) if dtype == np.float64 else 0.0
    error = relative_error(y - beta, truth - beta)
    note = f"worst at {batch.shape}, {dtype}, eps {batch.eps:g}" + (f" ({special})" if special else "")
    if not held.add(error, plain, dtype=dtype, single=single, note=note, shape=batch.shape):
        causes.append(diagnosis.causes(y, truth, batch, diagnosis.Y))
    return held.seen[-1][1]
