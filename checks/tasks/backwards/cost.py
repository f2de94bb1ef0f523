"""What an element-wise gradient check costs at the width of a Transformer, done cleverly and done plainly."""

from __future__ import annotations

import re
import time

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.gradients import differences
from judge_tui.checks.tasks.backwards.gradients import ROWS, agrees, as_function, row_scale
from judge_tui.checks.tasks.backwards.limits import coarse
from judge_tui.checks.tasks.backwards.passes import STATED as _SHAPE
from judge_tui.checks.tasks.backwards.passes import Pass, backward, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.verdict import Verdict

__all__ = ["gradient_cost"]

_SMALL = (2, 8, 1024)
#: Calls of the forward per perturbation: the five-point rule and its double.
_CALLS = 6
_FEATURES = 4
#: Seconds that the sample of features may take, and one forward at most.
_SAMPLE, _FORWARD = 3.0, 2.5
_OWN = re.compile(r"grad\w*_?check|check_?\w*grad|numerical_?\w*grad|finite_?diff", re.I)


@check(
    "gradient_cost",
    "cost of a full check",
    establishes="dx is right at (2, 128, 1024) on sampled features; tells what all elements would take.",
    roles=("forward", "backward"),
)
def gradient_cost(bench: Bench, found: Findings) -> str:
    """Time coloured differences on some features, check them, and extrapolate to all."""
    eps = eps_of(bench, 1e-5)
    _quick_enough(bench, draw(bench.rng("small"), _SMALL, eps))
    batch = draw(bench.rng("batch"), _SHAPE, eps)
    run = forward(bench, batch)
    call = min(run.returned.result.seconds, forward(bench, batch).returned.result.seconds)
    seconds = _sampled(bench, found, run, call)
    B, T, D = _SHAPE
    plain = 2 * (B * T * D + 2 * D)
    engine, own = seconds * (D + 2), plain * _inside(run, call)
    found.note(
        f"all {B * T * D + 2 * D:,} elements by coloured differences at {_SHAPE}, extrapolated",
        engine,
        unit="s",
        note=f"{_CALLS * (D + 2):,} calls of its forward, {_CALLS} per feature of all rows at once",
    )
    file, line, name = _own_check(bench)
    found.note(
        "the same element by element, extrapolated",
        own,
        unit="s",
        file=file,
        line=line,
        note=f"{plain:,} calls of its forward, two per element"
        + (f", as '{name}' would make" if name else ""),
    )
    wrong = found.wrong
    if wrong is not None:
        error = _short(wrong.measured)
        narrow = found.verdict is Verdict.WARN and isinstance(wrong.measured, float)
        why = f": {coarse(float(wrong.measured or 0.0))}" if narrow else ""
        return f"dx has relative error {error} against differences of its own forward at {_SHAPE}{why}"
    text = f"all elements at {_SHAPE}: {_time(engine)} by coloured differences, {_time(own)} one by one"
    return f"{text}; dx right on the features sampled"


def _quick_enough(bench: Bench, batch: Batch) -> None:
    seconds = forward(bench, batch).returned.result.own_seconds
    expected = seconds * _SHAPE[1] / _SMALL[1]
    if expected > _FORWARD:
        raise Skipped(f"one forward at {_SHAPE} would take about {expected:.0f} s")


def _sampled(bench: Bench, found: Findings, run: Pass, call: float) -> float:
    """Hold dx on some features against differences; seconds per feature."""
    batch = run.batch
    count = int(np.clip(_SAMPLE / (_CALLS * max(call, 1e-6)), 1, _FEATURES))
    first = int(bench.rng("features").integers(batch.width - count))
    chosen = slice(first, first + count)
    scale = row_scale(batch)
    started = time.monotonic()
    at = {"x": batch.x}
    estimate = differences(
        as_function(bench, batch), at, ROWS, batch.dy, scale=scale, steps=(2e-3,), only=chosen
    )
    seconds = (time.monotonic() - started) / count
    # A forward of its own: other forwards have run since, and a workspace may be shared.
    dx = backward(bench, forward(bench, batch)).dx
    part = type(estimate)(estimate.value[..., chosen], estimate.noise[..., chosen], estimate.step)
    size = np.sqrt((part.value**2).mean())
    # Measured by row against the rows' typical length: a few features of a row may all be small.
    length = np.maximum(np.linalg.norm(part.value, axis=-1), size / batch.width)
    agrees(bench, found, "dx", dx[..., chosen], part, 0.0, batch, size=length)
    return seconds


def _inside(run: Pass, call: float) -> float:
    """Seconds of one forward inside the worker, without the transport: what a check of its own would pay."""
    told = run.returned.result.counters.get("seconds")
    return min(float(told), call) if isinstance(told, float) and told > 0 else call


def _own_check(bench: Bench) -> tuple[str | None, int | None, str]:
    """The submission's own gradient check, as far as its name tells."""
    for file, inventory in bench.worker.loaded.items():
        for function in inventory.get("functions", ()):
            if _OWN.search(str(function.get("name"))):
                return file, int(function.get("line") or 0) or None, str(function["name"])
    return None, None, ""


def _short(measured: float | int | str | None) -> str:
    return f"{measured:.2g}" if isinstance(measured, float) else str(measured)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
