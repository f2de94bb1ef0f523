"""Inputs at the edge of the contract: no variance, one feature, one row, features that gamma turns off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.flat_rows import flat_rows
from judge_tui.checks.tasks.backwards.limits import coarse, single_limit
from judge_tui.checks.tasks.backwards.passes import backward, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch, Gradients, statistics
from judge_tui.checks.tasks.backwards.source import place
from judge_tui.checks.tolerance import calibrated
from judge_tui.checks.verdict import Verdict

__all__ = ["degenerate"]

_OFF = "zeros in gamma"
Array = npt.NDArray[Any]


@check(
    "degenerate",
    "degenerate inputs",
    establishes="Zeros, constant rows, D = 1, odd D, a single row and zeros in gamma give finite and right "
    "answers.",
    roles=("forward", "backward"),
    version=4,
)
def degenerate(bench: Bench, found: Findings) -> str:
    """Run each case; a case that raises is a finding of its own."""
    worst, bad = 0.0, ""
    eps = eps_of(bench, 1e-5)
    count = 0
    for name, x in _cases(bench.rng("cases"), bench.sizes("cases")):
        count += 1
        batch = _batch(bench.rng(name), x, eps, off=_OFF in name)
        try:
            run = forward(bench, batch)
            answer = backward(bench, run)
        except (Raised, BadResult) as fault:
            found.claim(
                name, False, measured=fault.message, file=fault.file, line=fault.line, output=fault.output
            )
            bad = bad or f"{name}: the submission {fault.message}"
            continue
        figure = _judged(batch, run.y, answer)
        if not _held(bench, found, name, figure):
            told = f"{figure.error:.2g} of its scale off (limit {figure.limit:.1e})"
            told = told if np.isfinite(figure.error) else "not finite"
            why = "" if bad else flat_rows(batch, run.y, answer, figure.name)
            bad = bad or f"{name}: {figure.name} is {told}{why and f'; {why}'}"
        worst = max(worst, figure.error)
    if found.verdict is Verdict.WARN:
        bad += f": {coarse(worst)}"
    return bad or f"{count} cases finite and right, {worst:.1e} off at worst"


def _cases(rng: np.random.Generator, sizes: Sizes) -> Iterator[tuple[str, Array]]:
    def odd(least: int, most: int) -> int:
        return 2 * sizes.between(least // 2, (most - 1) // 2) + 1

    def rows() -> tuple[int, int]:
        return sizes.between(2, 3), sizes.between(3, 5)

    def told(name: str, x: Array) -> tuple[str, Array]:
        return f"{name} {x.shape}", x

    yield told("zeros", np.zeros((*rows(), sizes.between(4, 12))))
    x = rng.standard_normal((*rows(), sizes.between(4, 12)))
    x[0, 1], x[1, 0], x[1, 2] = 3.0, -0.1, rng.uniform(1.0, 2.0)
    yield told("constant rows among others", x)
    yield told("D = 1", rng.standard_normal((*rows(), 1)))
    yield told("one number", rng.standard_normal((1, 1, 1)))
    yield told("one row of odd D", rng.standard_normal((1, 1, odd(3, 15))))
    yield told("odd sizes", rng.standard_normal((odd(3, 5), 1, odd(7, 25))))
    yield told("one batch entry, D = 2", rng.standard_normal((1, sizes.between(3, 9), 2)))
    yield told(_OFF, rng.standard_normal((*rows(), sizes.between(6, 14))))
    yield told("variance 1e-20", 1e-10 * rng.standard_normal((2, sizes.between(1, 4), sizes.between(4, 9))))


def _batch(rng: np.random.Generator, x: Array, eps: float, *, off: bool) -> Batch:
    D = x.shape[-1]
    gamma = rng.uniform(0.5, 2.0, D) * rng.choice([-1.0, 1.0], D)
    if off:
        gamma[rng.permutation(D)[: D // 3]] = 0.0
    return Batch(x, gamma, rng.standard_normal((D,)), eps, rng.standard_normal(x.shape))


@dataclass(frozen=True, slots=True)
class _Figure:
    """An error beside its limits: in float64, and in float32 on the same input."""

    name: str
    error: float
    limit: float
    single: float

    @property
    def share(self) -> float:
        return self.error / self.limit if np.isfinite(self.error) else np.inf


def _held(bench: Bench, found: Findings, case: str, figure: _Figure) -> bool:
    lenient = figure.limit < figure.error <= figure.single
    file, line = place(bench, "forward" if figure.name == "y" else "backward", figure.name)
    return found.limit(
        f"{case}: {figure.name}, largest error over its scale",
        figure.error,
        figure.limit,
        otherwise=Verdict.WARN if lenient else Verdict.FAIL,
        file=file,
        line=line,
        note=coarse(figure.error) if lenient else "",
    )


def _judged(batch: Batch, y: Array, answer: Gradients) -> _Figure:
    """The error that takes the largest share of its limit."""
    row = statistics(batch)
    g = np.abs(batch.dy * batch.gamma).max(axis=-1, keepdims=True)
    sizes = {
        "y": np.abs(batch.gamma).max() + np.abs(batch.beta).max(),
        "dx": row.rstd * g,
        "dgamma": np.abs(batch.dy).sum(axis=(0, 1)),
        "dbeta": np.abs(batch.dy).sum(axis=(0, 1)),
    }
    right = _by_name(reference.forward(batch), reference.gradients(batch))
    ours = _by_name(y, answer)
    sound = _by_name(*reference.plain(batch))
    low = _by_name(*reference.plain(batch.as_type(np.float32)))
    # What rounding of x itself becomes after the division by the standard deviation.
    spread = float((np.abs(batch.x).max(axis=-1, keepdims=True) * row.rstd).max())
    figures = []
    for name, size in sizes.items():
        error, plain, single = (
            float(np.max(np.abs(v[name] - right[name]) / size)) for v in (ours, sound, low)
        )
        limit = calibrated(max(plain, 2.0**-52 * spread), np.float64)
        figures.append(_Figure(name, error, limit, single_limit(max(single, 2.0**-23 * spread))))
    return max(figures, key=lambda figure: figure.share)


def _by_name(y: Array, gradient: Gradients) -> dict[str, Array]:
    return {"y": y, "dx": gradient.dx, "dgamma": gradient.dgamma, "dbeta": gradient.dbeta}
