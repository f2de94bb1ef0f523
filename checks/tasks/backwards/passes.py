"""Running a submission's layer norm on a batch, whatever its interface."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.own_sizes import OwnSizes, named
from judge_tui.checks.sizes import About, Sizes
from judge_tui.checks.strides import HOWS, mixed
from judge_tui.checks.tasks.backwards.limits import Held, halving
from judge_tui.checks.tasks.backwards.reference import Batch, Gradients

__all__ = ["STATED", "Pass", "about", "affordable", "backward", "cache_of", "cache_role", "draw", "drawn",
           "eps_of", "forward", "narrowing", "own_sizes", "release", "swept", "whole_lanes"]  # fmt: skip

Array = npt.NDArray[Any]

#: (B, T, D) that the challenge states: wide rows, and more of them than a block of code may hold.
STATED = (2, 128, 1024)
#: Rows of that width that tell how long all would take, and the seconds that a forward on all may take.
_FEW, _LONGEST = (1, 4, 1024), 2.5
#: Sizes about those that code handles at once.
_BESIDE_TILES = (48, 63, 64, 65, 96, 100, 127, 128, 129, 200, 257)
#: Axes that an integer of the source may concern, and what they may be because of it: code that counts rows
#: takes another path at tens of thousands of them.
_AXES = {"D": (2, 8300), "T": (1, 140_000), "B": (1, 2100)}
#: From so many on the other axes are as small as they can be, and rows weigh, each a call in slow code.
_MANY, _ROW = 8300, 64
_MOST_ABOUT = 12
#: Features of whole vectors of any usual width, and widths that the source names, in other orders of memory.
_LANES, _WIDEST, _MOST_NAMED = 256, 1100, 4
#: What a stability constant is assumed to be when a measurement says nothing.
_USUAL_EPS = 1e-5
#: What draws take in turn: the usual one, for which a default passes that is not what is told, and others.
_EPS = (_USUAL_EPS, 1e-3, 1e-4)


@dataclass(frozen=True, slots=True)
class Pass:
    """A forward that was run.

    Attributes:
        batch: What it was given.
        y: (B, T, D) its output.
        returned: The call, with the handles of the cache and of the instance.
    """

    batch: Batch
    y: Array
    returned: Returned


def _inputs(batch: Batch) -> dict[str, Any]:
    return {
        "x": batch.x,
        "gamma": batch.gamma,
        "beta": batch.beta,
        "eps": batch.eps,
        "D": batch.width,
        "dy": batch.dy,
    }


def forward(bench: Bench, batch: Batch, *, worker: Worker | None = None) -> Pass:
    """Run the submission's forward.

    Raises:
        Fault: It raised, hung or died, or y has not the shape of x.
    """
    returned = bench.call("forward", _inputs(batch), worker=worker)
    return Pass(batch, returned.array("y", batch.shape), returned)


def backward(
    bench: Bench,
    run: Pass,
    *,
    dy: Array | None = None,
    cache: Handle | None = None,
    worker: Worker | None = None,
    budget: float | None = None,
) -> Gradients:
    """Run the submission's backward.

    Args:
        bench: Where.
        run: The forward whose cache is used.
        dy: Upstream gradient; the batch's own when left out.
        cache: Another cache than the forward's, such as a poisoned copy.
        worker: The worker that ran the forward.
        budget: Seconds; what the check has left when left out.

    Raises:
        Fault: It raised, hung or died, or a gradient has a wrong shape.
    """
    handles = {name: run.returned.handle(name) for name in ("cache", "layer") if run.returned.has(name)}
    if cache is not None:
        handles[cache_role(bench)] = cache
    batch = run.batch if dy is None else replace(run.batch, dy=dy)
    returned = bench.call("backward", {**_inputs(batch), **handles}, worker=worker, budget=budget)
    width = (batch.width,)
    return Gradients(
        returned.array("dx", batch.shape), returned.array("dgamma", width), returned.array("dbeta", width)
    )


def affordable(bench: Bench, found: Findings) -> bool:
    """Whether a forward at the stated size takes a few seconds at most; a slower one is noted."""
    few = draw(bench.rng("few"), _FEW, eps_of(bench, 1e-5))
    seconds = forward(bench, few).returned.result.own_seconds
    expected = seconds * (STATED[0] * STATED[1]) / (_FEW[0] * _FEW[1])
    if expected > _LONGEST:
        found.note(f"not called at {STATED}: seconds that one forward would take", expected, unit="s")
    return expected <= _LONGEST


def own_sizes(bench: Bench) -> OwnSizes:
    """Sizes that the submission's source names."""
    return OwnSizes(bench, _AXES, _MOST_ABOUT)


def about(bench: Bench, own: OwnSizes) -> Iterator[tuple[Batch, About]]:
    """Axes at sizes that the source names, the others small.

    A size that is refused on purpose is told by ``own``.
    """
    few = dict(zip("BTD", bench.sizes("about", "others").shape((1, 3), (1, 4), (2, 9)), strict=True))
    least = {"B": 1, "T": 1, "D": 3}
    for one in own.each(_work):
        others = few if one.largest <= _MANY else least
        b, t, d = ({**others, **one.at}[axis] for axis in "BTD")
        yield draw(bench.rng("about", one.words), (b, t, d), eps_of(bench, _EPS[2])), one


def narrowing(bench: Bench, held: Iterable[Held]) -> Iterator[Batch]:
    """Small batches of the widths that tell where answers get wrong; see :func:`limits.halving`."""
    for width in halving(held):
        yield draw(bench.rng("narrowing", width), (1, 2, width), eps_of(bench, _EPS[2]))


def _work(one: About) -> float:
    return float(math.prod(one.at.values()) * (_ROW if one.largest > _MANY else 1))


def release(bench: Bench, runs: Sequence[Pass]) -> None:
    """Let the worker forget forwards that no backward follows."""
    handles: list[Handle] = []
    for run in runs:
        made = run.returned
        handles += [made.result.handle, *made.given.values(), *([made.instance] if made.instance else [])]
    bench.worker.drop(*handles)


def cache_role(bench: Bench) -> str:
    """Which handle carries the cache to the backward: what the forward returned, or its instance."""
    binding = bench.binding("backward")
    return "cache" if binding.on == "cache" or binding.takes("cache") else binding.on or "cache"


def cache_of(bench: Bench, run: Pass) -> Handle:
    """The object that carries what the backward needs."""
    return run.returned.handle(cache_role(bench))


def eps_of(bench: Bench, wanted: float) -> float:
    """The eps that a batch can have: ``wanted``, or the submission's own where it takes none.

    A constant is measured on rows whose variance is far below it: y = a/√(a² + eps) for a row of ±a.
    """
    if bench.binding("forward").takes("eps"):
        return wanted
    size = 1e-7
    row = size * np.array([1.0, -1.0, 1.0, -1.0])
    batch = Batch(row.reshape(1, 1, 4), np.ones(4), np.zeros(4), _USUAL_EPS, np.ones((1, 1, 4)))
    height = float(np.max(np.abs(forward(bench, batch).y)))
    return _plain_number((size / height) ** 2 - size**2) if height > 0 else _USUAL_EPS


def _plain_number(measured: float) -> float:
    """The digit times a power of ten that a measured constant stands for."""
    if not np.isfinite(measured) or measured < 1e-15:
        return 0.0 if np.isfinite(measured) else _USUAL_EPS
    power = int(np.floor(np.log10(measured)))
    candidates = [float(f"{digit}e{power + more}") for digit in range(1, 10) for more in (0, 1)]
    nearest = min(candidates, key=lambda value: abs(value - measured))
    return nearest if abs(nearest - measured) < 1e-4 * measured else measured


def swept() -> Iterator[tuple[tuple[int, int, int], float]]:
    """Shapes with every small number of rows, then of features, and those beside the usual tiles.

    Yields:
        (B, T, D), small enough for any spelling, and eps: mostly not the default, which may stand for it.
    """
    turn = itertools.cycle(_EPS)
    for rows in (*range(1, 41), *_BESIDE_TILES):
        batch = next((n for n in (2, 3, 5) if rows % n == 0), 1)
        yield (batch, rows // batch, 6), next(turn)
    for features in (*range(4, 37), *_BESIDE_TILES):
        yield (1, 2, features), next(turn)


def drawn(sizes: Sizes) -> Iterator[tuple[tuple[int, int, int], float]]:
    """Shapes of any size and each axis once large; one comes twice, so that a replayed answer shows.

    Yields:
        (B, T, D) and eps; the first two are small, and the third has the shape of the first.
    """
    first = sizes.between(2, 3), sizes.between(2, 4), sizes.between(5, 12)
    yield first, 1e-5
    yield (sizes.between(2, 4), sizes.between(2, 5), sizes.between(4, 9)), 1e-3
    yield first, 1e-2
    yield (1, 1, sizes.between(9, 40)), 1e-6
    side = sizes.between(4, 8)
    yield (side, side, side), 1e-4
    turn = itertools.cycle(_EPS)
    for _ in range(4):
        yield (sizes.between(1, 6), sizes.between(1, 24), sizes.between(4, 100)), next(turn)
    for b, t, d in sizes.each_large(((1, 3), (1, 4), (4, 12)), ((8, 40), (20, 300), (260, 3000))):
        yield (b, t, d), next(turn)


def strided(bench: Bench) -> Iterator[tuple[Batch, str]]:
    """Batches whose arrays lie in memory in other orders, each in one of its own, and which."""
    sizes = bench.sizes("strided")
    shapes = [(sizes.between(2, 4), sizes.between(3, 9), sizes.between(4, 24)) for _ in HOWS]
    for number, shape in enumerate((*shapes, *whole_lanes(bench))):
        turn = number % len(HOWS)
        batch = draw(bench.rng("strided", number), shape, eps_of(bench, _EPS[2]))
        x, dy, gamma, beta = mixed(turn, batch.x, batch.dy, batch.gamma, batch.beta)
        words = f"in memory x {HOWS[turn]}, dy {HOWS[(turn + 1) % len(HOWS)]}"
        yield replace(batch, x=x, dy=dy, gamma=gamma, beta=beta), words


def whole_lanes(bench: Bench) -> list[tuple[int, int, int]]:
    """Shapes of rows that code may take in lanes, or that the source names: each once for every order."""
    named_ones = named(bench, {"D": (17, _WIDEST)}, _MOST_NAMED)
    widths = dict.fromkeys([_LANES, *(one.at["D"] for one in named_ones)])
    return [(2, 3, width) for width in widths for _ in HOWS]


def draw(rng: np.random.Generator, shape: tuple[int, int, int], eps: float) -> Batch:
    """A batch that separates right from lucky: gamma of both signs and never 1, half the rows with var ≈ eps.

    Args:
        rng: Seeded.
        shape: (B, T, D).
        eps: The stability constant.
    """
    B, T, D = shape
    spread = 10.0 ** rng.uniform(-0.7, 0.7, (B, T, 1))
    near = np.arange(B * T).reshape(B, T, 1) % 2 == int(rng.integers(2))
    spread = np.where(near, np.sqrt(max(eps, 1e-12)) * spread, spread)
    x = spread * (rng.standard_normal(shape) + rng.uniform(-2.0, 2.0, (B, T, 1)))
    gamma = rng.uniform(0.4, 2.0, D) * rng.choice([-1.0, 1.0], D)
    gamma[np.abs(np.abs(gamma) - 1.0) < 0.05] = 1.3
    return Batch(x, gamma, 0.3 * rng.standard_normal(D), eps, rng.standard_normal(shape))
