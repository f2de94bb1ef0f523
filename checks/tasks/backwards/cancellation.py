"""How the error grows with the offset of a row: a curve, beside that of a sound two-pass implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.limits import coarse
from judge_tui.checks.tasks.backwards.lowered import lower_precision
from judge_tui.checks.tasks.backwards.passes import backward, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.tasks.backwards.source import place, variance
from judge_tui.checks.tolerance import SLACK, is_single, relative_error
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["cancellation"]

Array = npt.NDArray[Any]

_OFFSETS = tuple(10.0**power for power in range(2, 11))
#: Of float32 input; rows as wide as what is done in lanes.
_SINGLE = tuple(10.0 ** (power / 2) for power in range(2, 9))
_LANES = 32
#: What rounding to float32 once leaves.
_ROUNDED = 4.0 * float(np.finfo(np.float32).eps)
#: Errors past this share are no rounding's any more; offsets below, and the power of these they grow with.
_LOST, _GROWING, _STEEPEST = 0.3, 3, (1.7, 2.3)
#: In float32 few offsets lie between the limit and what is lost: from this share of sound errors on.
_SEEN = 4.0
#: Past this offset float32 cannot hold a variance of 1 at all.
_SINGLE_OFFSETS = 1e4


@check(
    "cancellation",
    "large offsets",
    establishes="y and dx keep the accuracy of two-pass statistics at offsets 1e2 to 1e10 with variance 1.",
    roles=("forward", "backward"),
    version=5,
)
def cancellation(bench: Bench, found: Findings) -> str:
    """Follow the error of y and dx over the offset."""
    eps = eps_of(bench, 1e-5)
    sizes = bench.sizes("rows")
    # one shape for all, so that the curve is of the offset
    shape = 1, sizes.between(3, 7), sizes.between(40, 100)
    runs = [
        _run(bench, _draw(bench.rng(int(np.log10(offset))), shape, offset, eps), offset)
        for offset in _OFFSETS
    ]
    in_single = all(run["single"] for run in runs)
    told = [_held(bench, found, runs, name, in_single) for name in ("y", "dx")]
    if found.verdict is Verdict.PASS:
        told += _of_float32(bench, found, eps)
    bad = [text for text in told if text]
    if bad:
        return bad[0]
    worst = {name: max(run[name] for run in runs) for name in ("y", "dx")}
    return f"y {worst['y']:.1e} and dx {worst['dx']:.1e} off at worst, to offset 1e10, like two-pass code"


def _of_float32(bench: Bench, found: Findings, eps: float) -> list[str]:
    """The same of float32 input, which may go another way than float64."""
    sizes = bench.sizes("float32 rows")
    shape = 1, sizes.between(3, 7), _LANES * sizes.between(2, 4)
    runs = []
    for offset in _SINGLE:
        drawn = _draw(bench.rng("float32", int(10 * np.log10(offset))), shape, offset, eps)
        runs.append(_run(bench, drawn.as_type(np.float32), offset))
    told = [_held(bench, found, runs, name, in_single=False, kind="float32") for name in ("y", "dx")]
    return [f"of float32 input {text}; float64 is right" for text in told if text]


def _draw(rng: np.random.Generator, shape: tuple[int, int, int], offset: float, eps: float) -> Batch:
    B, T, D = shape
    noise = rng.standard_normal(shape)
    noise = (noise - noise.mean(-1, keepdims=True)) / noise.std(-1, keepdims=True)
    x = noise + offset * rng.choice([-1.0, 1.0], (B, T, 1)) * rng.uniform(1.0, 1.2, (B, T, 1))
    gamma = rng.uniform(0.5, 2.0, D) * rng.choice([-1.0, 1.0], D)
    return Batch(x, gamma, 0.1 * rng.standard_normal(D), eps, rng.standard_normal(shape))


def _run(bench: Bench, batch: Batch, offset: float) -> dict[str, Any]:
    """Errors of the submission and their limits at one offset."""
    done = forward(bench, batch)
    gradient = backward(bench, done)
    truth = {"y": reference.forward(batch), "dx": reference.gradients(batch).dx}
    plain_y, plain = reference.plain(batch)
    epsilon = float(np.finfo(batch.x.dtype).eps)
    ours, sound = {"y": done.y, "dx": gradient.dx}, {"y": plain_y, "dx": plain.dx}
    found: dict[str, Any] = {"offset": offset, "single": is_single(done.y)}
    # The mean of a row can be no better than its rounding, whatever the order of the sum.
    floor = epsilon * offset
    for name in ("y", "dx"):
        found[name] = relative_error(ours[name], truth[name])
        found[f"plain {name}"] = relative_error(sound[name], truth[name])
        found[f"limit {name}"] = SLACK * max(found[f"plain {name}"], floor)
    return found


def _held(
    bench: Bench, found: Findings, runs: list[dict[str, Any]], name: str, in_single: bool,
    kind: str = "float64",
) -> str:  # fmt: skip
    """Hold one curve against its limits; the sentence that tells the first excess, or nothing."""
    over = [run for run in runs if not run[name] <= run[f"limit {name}"]]
    worst = max(runs, key=lambda run: _share(run, name))
    lenient = in_single and all(
        run[name] <= SLACK * float(np.finfo(np.float32).eps) * run["offset"]
        for run in runs
        if run["offset"] <= _SINGLE_OFFSETS
    )
    grows = _grows(over, name)
    # Rounded to float32 once and no worse at any offset: what the cache keeps, say.
    rounded = not grows and all(run[name] <= max(_ROUNDED, run[f"limit {name}"]) for run in runs)
    rounded = rounded and kind == "float64"
    lenient = lenient or rounded
    file, line = variance(bench) if grows else place(bench, "forward" if name == "y" else "backward", name)
    found.limit(
        f"{name}, relative error per row at offset {worst['offset']:.0e}, {kind}, variance 1",
        worst[name],
        worst[f"limit {name}"],
        otherwise=Verdict.WARN if lenient else Verdict.FAIL,
        file=file,
        line=line,
        note=coarse(worst[name]) if lenient else "",
        curve=_curve(runs, name, name),
    )
    found.note(
        f"{name}, the same of a two-pass implementation{'' if kind == 'float64' else f' in {kind}'}",
        worst[f"plain {name}"],
        curve=_curve(runs, f"plain {name}", name),
    )
    if not over:
        return ""
    first, last = over[0], over[-1]
    if not grows:
        where = f"at offset {first['offset']:.0e} and no worse at {last['offset']:.0e}"
        why = f", but {coarse(first[name])}" if rounded else _formula(bench, name, first[name])
        return f"{name} is {_told(first[name])} off {where}: not cancellation{why}"
    return (
        f"{name} is {_told(last[name])} off at offset {last['offset']:.0e} "
        f"(two-pass: {last[f'plain {name}']:.1e}); "
        f"past its limit from {first['offset']:.0e} on"
        + (f": {coarse(last[name])}" if lenient else _squared(runs, name))
    )


def _squared(runs: list[dict[str, Any]], name: str) -> str:
    """Whether the error grows as the square of the offset, as that of a difference of squares does."""
    seen = _SEEN if len(runs) < len(_OFFSETS) else SLACK
    told = [run for run in runs if seen / SLACK * run[f"limit {name}"] < run[name] < _LOST]
    if len(told) < _GROWING:
        return ""
    growth = np.diff(np.log10([run[name] for run in told])) / np.diff(
        np.log10([run["offset"] for run in told])
    )
    if not _STEEPEST[0] <= float(np.mean(growth)) <= _STEEPEST[1]:
        return ""
    return ": it grows with the square of the offset, as a variance by E[x²] − E[x]² loses it"


def _grows(over: list[dict[str, Any]], name: str) -> bool:
    """Whether the excess comes with the offset; a formula that is wrong without one is as wrong with it."""
    errors = [float(run[name]) for run in over]
    return not (errors and np.all(np.isfinite(errors)) and max(errors) < 10 * errors[0] and errors[0] > 1e-9)


def _share(run: dict[str, Any], name: str) -> float:
    share = float(run[name] / run[f"limit {name}"])
    return share if np.isfinite(share) else np.inf


def _told(error: float) -> str:
    return f"{error:.1e}" if np.isfinite(error) else "NaN and"


def _curve(runs: list[dict[str, Any]], key: str, name: str) -> Curve:
    # A logarithmic axis has no place for 0, and JSON none for NaN: it is drawn as wholly wrong.
    points = tuple((run["offset"], max(run[key], 1e-17) if np.isfinite(run[key]) else 1.0) for run in runs)
    return Curve("offset", f"relative error of {name}", points, log_x=True, log_y=True)


def _formula(bench: Bench, name: str, error: float) -> str:
    """What is wrong at any offset, as the end of a sentence: a lower precision's rounding, or the formula."""
    lower = lower_precision(bench, gradients=name != "y")
    right = lower is not None and lower.explains([error], 1)
    return f"; {lower.text}" if lower is not None and right else ", but a wrong formula"
