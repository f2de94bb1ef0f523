"""Gradient verification of layer norm at (2, 128, 1024): how much colouring and projections save.

    python benchmarks/bench_gradients.py

All elements by coloured differences and by ±1 projections, against the element-wise loop
(extrapolated from a slice) and against ``torch.autograd.gradcheck`` on the same function, in one run.
Torch is wanted for the last part only; without it that part says so.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.gradients import Independence, central, projection, signs
from judge_tui.checks.tasks.backwards.reference import Batch, gradients, statistics

Array = npt.NDArray[Any]

SHAPE = (2, 128, 1024)
EPS = 1e-5
ROWS = Independence("x", ((0, 0), (1, 1)))
LOOPED = 64
ROUNDS = 8
TIMES = 5


def layer_norm(at: Mapping[str, Array]) -> Array:
    """The function under test, as a submission would write it: (B, T, D) → (B, T, D)."""
    x = at["x"]
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred * centred).mean(axis=-1, keepdims=True)
    return at["gamma"] * (centred / np.sqrt(var + EPS)) + at["beta"]


def seconds(job: Callable[[], object]) -> float:
    begun = time.perf_counter()
    job()
    return time.perf_counter() - begun


def loop(at: dict[str, Array], dy: Array, chosen: slice) -> Array:
    """The loop that everybody writes first, over some elements."""
    x, h = at["x"].copy(), 1e-5
    flat = x.reshape(-1)
    grad = np.zeros(flat.size)
    for i in range(chosen.start, chosen.stop):
        kept = flat[i]
        flat[i] = kept + h
        ahead = np.sum(layer_norm({**at, "x": x}) * dy)
        flat[i] = kept - h
        behind = np.sum(layer_norm({**at, "x": x}) * dy)
        flat[i] = kept
        grad[i] = (ahead - behind) / (2 * h)
    return grad[chosen]


def error(found: Array, exact: Array) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def say(what: str, value: str, against: str = "", limit: str = "", ok: bool = True) -> int:
    print(f"{'ok ' if ok else 'OUT'} {what:<46} {value:>12}   {against:<40} {limit}")
    return not ok


def ours(at: dict[str, Array], dy: Array) -> tuple[int, float]:
    """Time loop, colours and projections; how many limits were missed, and the seconds of the colours."""
    batch = Batch(at["x"], at["gamma"], at["beta"], EPS, dy)
    exact, spread = gradients(batch).dx, 1.0 / statistics(batch).rstd
    layer_norm(at)
    grad, looped, coloured, part = np.zeros(SHAPE), np.zeros(0), 0.0, 0.0
    width, share = SHAPE[-1] // ROUNDS, LOOPED // ROUNDS
    for turn in range(ROUNDS):
        # in turns: what slows the machine for a while slows both
        begun = time.perf_counter()
        looped = np.append(looped, loop(at, dy, slice(turn * share, (turn + 1) * share)))
        part += time.perf_counter() - begun
        begun = time.perf_counter()
        chosen = slice(turn * width, (turn + 1) * width)
        grad += central(layer_norm, at, ROWS, dy, scale=spread, sampled=1, only=chosen).value
        coloured += time.perf_counter() - begun
    whole = part * dy.size / LOOPED
    say(
        f"element by element, from {LOOPED} of {dy.size:,}",
        f"{whole:.0f} s",
        f"error {error(looped, exact.reshape(-1)[:LOOPED]):.1e}",
    )
    bad = say(
        "all elements, coloured",
        f"{coloured:.2f} s",
        f"{whole / coloured:.0f} x faster, error {error(grad, exact):.1e}",
        "limit 200 x",
        whole / coloured >= 200,
    )
    rng = np.random.default_rng(7)
    shadows, times = [], []
    for _ in range(TIMES):
        begun = time.perf_counter()
        direction = signs(rng, dy.shape)
        seen = projection(layer_norm, at, ROWS, dy, direction, scale=spread, steps=(2e-3,)).value
        shadows.append(error(seen, (exact * direction).sum(axis=-1)))
        times.append(time.perf_counter() - begun)
    projected = float(np.median(times))
    bad += say(
        "all elements, one projection per row",
        f"{projected * 1e3:.0f} ms",
        f"{whole / projected:,.0f} x faster, error {max(shadows):.1e}",
        "limit 50 ms",
        projected < 0.05,
    )
    return bad, coloured


def theirs(at: dict[str, Array], dy: Array, coloured: float) -> None:
    """Time torch's gradcheck on the same function, in its fast mode and, from one row, in its full mode."""
    try:
        import torch
    except ImportError:
        print("    torch is not installed: gradcheck was not timed (pip install torch)")
        return
    torch.set_num_threads(1)
    gamma, beta = torch.from_numpy(at["gamma"]), torch.from_numpy(at["beta"])

    def function(x: Any) -> Any:
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), gamma, beta, EPS)

    whole = torch.from_numpy(at["x"]).requires_grad_()
    fast = seconds(lambda: torch.autograd.gradcheck(function, (whole,), fast_mode=True))
    say("torch gradcheck, fast mode", f"{fast:.2f} s", f"{fast / coloured:.2f} x all elements coloured")
    row = torch.from_numpy(at["x"][:1, :1]).requires_grad_()
    one = seconds(lambda: torch.autograd.gradcheck(function, (row,)))
    rows = dy.size // dy.shape[-1]
    # so many rows have so many times the inputs, and each perturbation so many times the outputs
    full = one * rows * rows
    say(
        "torch gradcheck, full mode, from one row",
        f"{full / 3600:.1f} h",
        f"{full / coloured:,.0f} x all elements coloured",
    )


def main() -> int:
    rng = np.random.default_rng(1)
    at: dict[str, Array] = {
        "x": rng.standard_normal(SHAPE),
        "gamma": rng.standard_normal(SHAPE[-1]),
        "beta": rng.standard_normal(SHAPE[-1]),
    }
    dy = rng.standard_normal(SHAPE)
    bad, coloured = ours(at, dy)
    theirs(at, dy, coloured)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
