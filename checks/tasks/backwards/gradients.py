"""dx, dgamma, dbeta: against the analytic truth, and against differences of the submission's own forward."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.answers import Answer
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.gradients import Estimate, Independence, differences, independent, projection, signs
from judge_tui.checks.own_sizes import OwnSizes
from judge_tui.checks.precision import Lowered
from judge_tui.checks.tasks.backwards import diagnosis, reference
from judge_tui.checks.tasks.backwards.counted import miscounted, places_exchanged, wrong_places
from judge_tui.checks.tasks.backwards.dx_read import wrong_terms
from judge_tui.checks.tasks.backwards.earlier import of_another_call
from judge_tui.checks.tasks.backwards.equal_axes import equal_axes
from judge_tui.checks.tasks.backwards.laid_wrongly import laid_wrongly
from judge_tui.checks.tasks.backwards.limits import Held, coarse, counted, hold
from judge_tui.checks.tasks.backwards.lowered import lower_precision
from judge_tui.checks.tasks.backwards.other_rows import normalised_by_others
from judge_tui.checks.tasks.backwards.passes import (
    STATED,
    Pass,
    about,
    affordable,
    backward,
    cache_role,
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
from judge_tui.checks.tasks.backwards.reference import Batch, Gradients
from judge_tui.checks.tasks.backwards.source import place
from judge_tui.checks.tasks.backwards.wrong_features import wrong_features
from judge_tui.checks.tolerance import SLACK, relative_error
from judge_tui.checks.unanswered import Unanswered
from judge_tui.checks.verdict import Evidence, Verdict

__all__ = ["ROWS", "agrees", "as_function", "errors", "gradients", "row_scale"]

Array = npt.NDArray[Any]

#: Rows of x are independent; gamma and beta are, feature by feature.
ROWS = Independence("x", ((0, 0), (1, 1)))
_FEATURES = {name: Independence(name, ((0, 2),)) for name in ("gamma", "beta")}
_CAUSES = {"dx": diagnosis.DX, "dgamma": diagnosis.DGAMMA, "dbeta": diagnosis.DBETA}
#: An estimate whose own error is larger than this share of it shows nothing.
_ROUGH = 1e-2
#: What a cache rounded to float32 leaves of a gradient.
_SINGLE = 8.0 * float(np.finfo(np.float32).eps)
#: A row of dx is measured by its length, or by this share of its terms where they cancel.
_CANCELLED = 1e-3
#: Of the rounding of n numbers that are summed in a row, which grows as √n, what sound code may reach.
_ROWS_ROUND = 1.0 / 16.0
#: What rounding may change of a row as others change.
_MOVED = 1e-6
#: Wrong draws at which rows are moved, and the most numbers of one.
_MIXED, _MOST_MIXED = 2, 300_000
#: Share of draws that are wrong where a gradient is right for a forward that is wrong itself.
_MOSTLY = 0.7
#: (B, T, D) of two forwards that come before either backward.
_BOTH = (2, 5, 8)
#: Forwards that the worker keeps before it is told to forget them.
_KEPT = 16


@check(
    "gradients",
    "dx, dgamma, dbeta",
    establishes="The gradients equal the analytic ones and the differences of the submission's own forward.",
    roles=("forward", "backward"),
    version=17,
)
def gradients(bench: Bench, found: Findings) -> str:
    """Compare with the truth on every draw; difference the submission's forward on small and wide ones."""
    text = "relative error per row against the analytic gradient"
    held = {name: Held(f"{name}, {text}, float64 input") for name in _names()}
    single = {name: Held(f"{name}, {text}, float32 input") for name in _names()}
    causes: dict[str, list[tuple[str, ...]]] = {name: [] for name in _CAUSES}
    draws, calls, own = list(drawn(bench.sizes("draws"))), Unanswered(), own_sizes(bench)
    memory = _called(bench, found, held, single, causes, calls, own)
    state = of_another_call(bench) if any(figures.wrong for figures in held.values()) else ""
    why = {name: state or _with_sizes(diagnosis.common(told), held[name]) for name, told in causes.items()}
    why |= {name: memory for name, figures in held.items() if memory and figures.off}
    if causes["dx"] and not why["dx"]:
        shapes, mixed = [s for s, fine in held["dx"].seen if not fine and math.prod(s) <= _MOST_MIXED], ""
        with calls.beside():
            shapes.sort(key=math.prod)
            mixed = places_exchanged(bench, shapes) or _mixed(bench, shapes[:_MIXED])
            mixed = (wrong_terms(bench, shapes, known=True) if mixed else "") or mixed
        where = held["dx"].only_where or equal_axes(bench, "dx")
        why["dx"] = "; ".join(filter(None, (mixed, where))) if mixed else ""
    lower = None if any(why.values()) else _lower_precision(bench, held)
    if lower is None and not any(why.values()):
        with calls.beside():
            for batch in narrowing(bench, held.values()):
                _compare(bench, held, batch, causes)
    if lower is not None:
        why = {name: lower.text for name, figures in held.items() if figures.off}
    why = {name: why.get(name) or _places(bench, name, figures) for name, figures in held.items()}
    for name, figures in (*held.items(), *single.items()):
        if not figures.count:
            continue
        file, line = place(bench, "backward", name)
        hold(found, figures, file=file, line=line, note=why.get(name, ""))
    own.tell(found)
    against_truth = len(found.evidence)
    with calls.beside():
        for index, (shape, eps) in enumerate(draws[:2]):
            _element_wise(bench, found, draw(bench.rng("differences", index), shape, eps_of(bench, eps)))
        sizes = bench.sizes("wide")
        wide = sizes.between(1, 3), sizes.between(4, 10), sizes.between(72, 120)
        _projected(bench, found, draw(bench.rng("wide"), wide, eps_of(bench, 1e-5)))
    return calls.tell(found, _summary(found, held, why, found.evidence[against_truth:]))


def _called(
    bench: Bench,
    found: Findings,
    held: Mapping[str, Held],
    single: Mapping[str, Held],
    causes: Mapping[str, list[tuple[str, ...]]],
    calls: Unanswered,
    own: OwnSizes,
) -> str:
    """Compare on every draw; what is told of other orders of memory, where these alone are wrong."""
    draws, memory = list(drawn(bench.sizes("draws"))), ""
    for index, (shape, eps) in enumerate(draws):
        with calls.trying(counted(shape)):
            _compare(bench, held, draw(bench.rng(index), shape, eps_of(bench, eps)), causes)
    for index, (shape, eps) in enumerate(swept()):
        with calls.trying(counted(shape)):
            _compare(bench, held, draw(bench.rng("swept", index), shape, eps_of(bench, eps)), causes)
    calls.needed(held["dx"].seen)
    with calls.beside():
        memory = _laid(bench, held, causes)
    with calls.trying(counted(STATED)):
        if affordable(bench, found):
            with own.pace(math.prod(STATED)):
                _compare(bench, held, draw(bench.rng("stated"), STATED, eps_of(bench, 1e-5)), causes)
    for batch, one in about(bench, own):
        with calls.trying(counted(batch.shape)), own.trying(one, batch.x.size):
            _compare(bench, held, batch, causes, special=str(one))
    batch = draw(bench.rng("float32"), draws[0][0], eps_of(bench, 1e-3)).as_type(np.float32)
    with calls.beside():
        _compare(bench, single, batch, causes)
        with bench.fresh() as worker:
            fresh = draw(bench.rng("fresh"), draws[0][0], eps_of(bench, 1e-3))
            _compare(bench, held, fresh, causes, worker=worker)
        _both_first(bench, held, causes)
    return memory


def _with_sizes(known: str, figures: Held) -> str:
    """What explains all wrong answers, and for which sizes they are wrong."""
    return "; ".join(filter(None, (known, figures.only_where))) if known else ""


def _both_first(bench: Bench, held: Mapping[str, Held], causes: Mapping[str, list[tuple[str, ...]]]) -> None:
    """Both forwards of one shape before either backward: a cache that is not its own shows."""
    if cache_role(bench) != "cache":
        return
    batches = [draw(bench.rng("both first", at), _BOTH, eps_of(bench, 1e-3)) for at in range(2)]
    runs = [forward(bench, batch) for batch in batches]
    for run in runs:
        _compare(bench, held, run.batch, causes, run=run, special="both forwards first")


def _laid(bench: Bench, held: Mapping[str, Held], causes: Mapping[str, list[tuple[str, ...]]]) -> str:
    """Compare arrays in other orders of memory; which of these are wrong, where the usual one is right."""
    usual = any(figures.off for figures in held.values())
    for batch, words in strided(bench):
        _compare(bench, held, batch, causes, special=words)
    return laid_wrongly(bench) if not usual and any(figures.off for figures in held.values()) else ""


def _places(bench: Bench, name: str, figures: Held) -> str:
    """For which sizes a gradient is wrong, and which rows or features are."""
    shapes = [shape for shape, fine in figures.seen if not fine]
    if not shapes:
        return ""
    if name == "dx":
        told = wrong_terms(bench, shapes) or wrong_places(bench, shapes)
    else:
        told = miscounted(bench, name, shapes)
        told = told or wrong_features(bench, name, shapes)
    if name == "dgamma" and not told:
        told = normalised_by_others(bench, shapes)
    return "; ".join(filter(None, (told, figures.only_where))) or equal_axes(bench, name)


def _lower_precision(bench: Bench, held: Mapping[str, Held]) -> Lowered | None:
    """What is told of gradients that are not right, where a lower precision is all that is wrong."""
    wrong = [figures for figures in held.values() if figures.off]
    found = lower_precision(bench, gradients=True) if wrong else None
    fits = found is not None and all(found.explains(figures.off, figures.count) for figures in wrong)
    return found if fits else None


def _mixed(bench: Bench, shapes: Sequence[tuple[int, ...]]) -> str:
    """Whether dx of a row hangs on the others, which no formula here is evaluated with."""
    for at, (B, T, D) in enumerate(((2, 3, 7), *shapes)):
        batch = draw(bench.rng("mixed", at), (B, T, D), eps_of(bench, 1e-5))
        rows = B * T
        if rows < 2:
            continue
        row = 2 * rows // 3
        other = replace(batch, x=batch.x.copy(), dy=batch.dy.copy())
        place = divmod(row, T)
        other.x[place], other.dy[place] = -3.0 * batch.x[place], 5.0 - batch.dy[place]
        one, two, again = (
            backward(bench, forward(bench, each)).dx.reshape(rows, D) for each in (batch, other, batch)
        )
        if not np.array_equal(one, again, equal_nan=True):
            return ""
        with np.errstate(invalid="ignore"):
            size = np.maximum(np.abs(one).max(axis=1), 1e-300)
            moved = np.flatnonzero(
                ~(np.abs(one - two).max(axis=1) <= _MOVED * size) & (np.arange(rows) != row)
            )
        if len(moved):
            return _moved_with(row, moved, rows)
    return ""


def _moved_with(row: int, moved: npt.NDArray[np.intp], rows: int) -> str:
    """Which rows one row's dx moves with, in words."""
    told = "dx of a row moves with other rows: its means take in more than the row"
    least, most = min(int(moved[0]), row), max(int(moved[-1]), row)
    if len(moved) + 1 < rows and most - least == len(moved):
        told += f" (row {row} of {rows} and rows {least} to {most})"
    return told


def _names() -> tuple[str, ...]:
    return ("dx", "dgamma", "dbeta")


def _summary(
    found: Findings, held: Mapping[str, Held], why: Mapping[str, str], own: Sequence[Evidence]
) -> str:
    """What it comes to.

    Args:
        found: All evidence.
        held: Name → the worst figure against the truth.
        why: Name → what was computed instead.
        own: The evidence against differences of the submission's own forward.
    """
    first = found.wrong
    if first is not None:
        name = first.quantity.partition(",")[0]
        error = f"{first.measured:.2g}" if isinstance(first.measured, float) else str(first.measured)
        versus = "central differences of its own forward" if first in own else "the reference"
        limit = f" (limit {first.limit:.1e})" if isinstance(first.limit, float) else ""
        place = _special(held[name].note) if first not in own and name in held else ""
        cause = (
            f": {why.get(name) or _of_its_own(first, held.get(name), own) or place}"
            if found.verdict is Verdict.FAIL
            else ""
        )
        cause = "" if cause == ": " else cause
        if found.verdict is Verdict.WARN and isinstance(first.measured, float):
            cause = f": {coarse(first.measured)}"
        return f"{name} has relative error {error} against {versus}{limit}{cause}"
    worst = max(held.values(), key=lambda h: h.error / h.limit)
    moved = [item.measured for item in own if isinstance(item.measured, float)]
    name = worst.quantity.partition(",")[0]
    return (
        f"{name} {worst.error:.2g} off the reference, worst of {worst.count} draws "
        f"(limit {worst.limit:.1e}); "
        f"{max(moved):.1e} off differences of its own forward"
    )


def _of_its_own(first: Evidence, figures: Held | None, own: Sequence[Evidence]) -> str:
    """Whether what is wrong on nearly every draw is right for its own forward, which is to blame then."""
    mine = [item for item in own if item.quantity.partition(",")[0] == first.quantity.partition(",")[0]]
    right = first not in own and bool(mine) and all(item.ok is True for item in mine)
    often = figures is not None and len(figures.off) >= _MOSTLY * figures.count
    return "it is the gradient of its own forward, which is wrong" if right and often else ""


def _special(note: str) -> str:
    """The worst draw, where there is something special about it."""
    return note if note.endswith(")") and "float64" in note else ""


def errors(batch: Batch, answer: Gradients, truth: Gradients) -> dict[str, float]:
    """The largest relative error per row, by gradient; dgamma and dbeta are one row each."""
    return {
        name: relative_error(
            np.asarray(getattr(answer, name), dtype=np.float64),
            getattr(truth, name),
            axis=-1 if name == "dx" else 0,
            least=_CANCELLED * reference.terms(batch) if name == "dx" else 0.0,
        )
        for name in _names()
    }


def _sound(batch: Batch, truth: Gradients, dtype: npt.DTypeLike) -> dict[str, float]:
    """What plain code in a dtype reaches; at least the rounding of terms, whatever luck it had with them."""
    made = errors(batch, reference.plain(batch.as_type(dtype))[1], truth)
    summed = reference.terms(batch)
    size = np.maximum(np.linalg.norm(truth.dx, axis=-1, keepdims=True), _CANCELLED * summed)
    share = np.divide(summed, size, out=np.zeros_like(size), where=size > 0)
    unit = float(np.finfo(np.dtype(dtype)).eps)
    rounding = unit * float(np.max(share, initial=0.0))
    summed_rows = unit * math.sqrt(truth.dx[..., 0].size) * _ROWS_ROUND
    return {
        "dx": max(made["dx"], rounding),
        **{name: max(made[name], summed_rows) for name in ("dgamma", "dbeta")},
    }


def _compare(
    bench: Bench,
    held: Mapping[str, Held],
    batch: Batch,
    causes: Mapping[str, list[tuple[str, ...]]],
    *,
    worker: Worker | None = None,
    special: str = "",
    run: Pass | None = None,
) -> None:
    with contextlib.nullcontext(Answer()) if worker else bench.answers.one() as asked:
        run = run or forward(bench, batch, worker=worker)
        answer = backward(bench, run, worker=worker)
        if worker is None:
            release(bench, [run])
        asked.fine = _held(held, batch, answer, causes, special)


def _held(
    held: Mapping[str, Held],
    batch: Batch,
    answer: Gradients,
    causes: Mapping[str, list[tuple[str, ...]]],
    special: str,
) -> bool:
    """Whether all gradients of a batch are right, float32's limit counted."""
    truth, dtype = reference.gradients(batch), batch.x.dtype
    ours = errors(batch, answer, truth)
    plain = _sound(batch, truth, dtype)
    double = dtype == np.float64
    single = _sound(batch, truth, np.float32) if double else {}
    for name, figures in held.items():
        note = f"worst at {batch.shape}, {dtype}, eps {batch.eps:g}" + (f" ({special})" if special else "")
        fine = figures.add(
            ours[name], plain[name], dtype=dtype, single=single.get(name, 0.0), note=note, shape=batch.shape
        )
        if double and not fine and name in _CAUSES:
            told = diagnosis.causes(getattr(answer, name), getattr(truth, name), batch, _CAUSES[name])
            causes[name].append(told)
    return all(figures.seen[-1][1] for figures in held.values())


def as_function(bench: Bench, batch: Batch) -> Any:
    """The submission's forward as a function of x, gamma and beta."""
    done: list[Pass] = []

    def y(at: Mapping[str, Array]) -> Array:
        inputs: dict[str, Any] = dict(at)
        done.append(forward(bench, replace(batch, **inputs)))
        answer = done[-1].y
        if len(done) >= _KEPT:
            release(bench, done)
            done.clear()
        return answer

    return y


def row_scale(batch: Batch) -> Array:
    """(B, T, 1) on which scale a row's output changes: its standard deviation, eps counted in."""
    return 1.0 / reference.statistics(batch).rstd


def _element_wise(bench: Bench, found: Findings, batch: Batch) -> None:
    """Every entry of every input, one feature of all rows at a time where rows are independent."""
    y, at = as_function(bench, batch), {"x": batch.x, "gamma": batch.gamma, "beta": batch.beta}
    answer = backward(bench, forward(bench, batch))
    scale = row_scale(batch)
    blocks = ROWS
    if not independent(y, at, ROWS, bench.rng("independence"), scale=float(scale.max())):
        blocks = Independence("x")
        found.note(
            "rows of its forward are independent", "no", note="one row's output moves with another row"
        )
    noisy = float(np.finfo(np.float64).eps) * np.abs(reference.gradients(batch).dx)
    agrees(bench, found, "dx", answer.dx, differences(y, at, blocks, batch.dy, scale=scale), noisy, batch)
    for name, block in _FEATURES.items():
        estimate = differences(y, at, block, batch.dy)
        agrees(bench, found, f"d{name}", getattr(answer, f"d{name}"), estimate, 0.0, batch)


def _projected(bench: Bench, found: Findings, batch: Batch) -> None:
    """A wide draw, row by row, by ±1 projections: every entry of dx weighs in."""
    y, at = as_function(bench, batch), {"x": batch.x, "gamma": batch.gamma, "beta": batch.beta}
    direction = signs(bench.rng("signs"), batch.shape)
    estimate = projection(y, at, ROWS, batch.dy, direction, scale=row_scale(batch))
    dx = backward(bench, forward(bench, batch)).dx
    # Entries of a random projection cancel, so it is measured against the length of the gradient.
    size = np.linalg.norm(reference.gradients(batch).dx, axis=-1)
    agrees(
        bench,
        found,
        "dx",
        (dx * direction).sum(axis=-1),
        estimate,
        0.0,
        batch,
        size=size,
        way="±1 projections",
    )


def agrees(
    bench: Bench,
    found: Findings,
    name: str,
    answer: Array,
    estimate: Estimate,
    rounding: Array | float,
    batch: Batch,
    *,
    size: Array | None = None,
    way: str = "central differences",
) -> None:
    """Hold a gradient against an estimate, row by row, within fifty times the estimate's own noise.

    What float32 arithmetic explains warns: a cache kept in float32 beside a float64 y.
    """
    by_row = answer.ndim == 3
    norm = (
        (lambda v: np.linalg.norm(v, axis=-1)) if by_row else np.abs if size is not None else np.linalg.norm
    )
    size = np.asarray(norm(estimate.value)) if size is None else size
    with np.errstate(all="ignore"):
        error = np.asarray(norm(answer - estimate.value)) / size
        share = np.asarray(norm(estimate.noise + rounding)) / size
    # A row's noise may be small by luck, so half the rows' stands for the least that it can be.
    limit = np.minimum(SLACK * np.maximum(share, np.median(share)) + 1e-9, _ROUGH)
    excess = np.where(np.isfinite(error), error, np.inf) / limit
    worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
    narrow = bool(np.all(error <= np.maximum(limit, _SINGLE)))
    file, line = place(bench, "backward", name)
    found.limit(
        f"{name}, relative error against {way} of its own forward",
        float(error[worst]),
        float(limit[worst]),
        otherwise=Verdict.WARN if narrow else Verdict.FAIL,
        file=file,
        line=line,
        note=f"{batch.shape}, step {estimate.step:g} of a row's scale, five-point rule",
    )
