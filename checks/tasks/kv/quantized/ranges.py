"""Numbers that do not lie about zero, and head sizes that fill no group: what a zero point has to bear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder
from judge_tui.checks.tasks.kv.quantized.held import SLACK, Judged, held, hold_step, only_clipped
from judge_tui.checks.tasks.kv.quantized.truth import Lattice, even

__all__ = ["SIZES", "judge_ranges", "judge_sizes", "moved", "small"]

Array = npt.NDArray[Any]
Shape = tuple[int, int, int, int]
#: Head sizes beside the usual: odd, small, and one more than a group.
SIZES = (7, 8, 33)
_FEW = 8


def judge_ranges(job: Judged, shape: Shape) -> None:
    """Lopsided, one-sided and far numbers, one head of these, and constants.

    Args:
        job: The store.
        shape: (B, H, N, D) that shows codes, D a multiple of 16.
    """
    rng = job.draw("ranges", job.told)
    for words, low in (
        ("more on one side of zero", -rng.uniform(0.1, 0.6)),
        ("all on one side of zero", rng.uniform(0.02, 0.08)),
    ):
        _one_range(job, words, _between(rng, shape, low), -_between(rng, shape, low))
    for words, k, v in moved(rng, shape):
        held(job, words, k, v, _limit(job, k, v), whole=True)


def moved(rng: np.random.Generator, shape: Shape) -> Iterator[tuple[str, Array, Array]]:
    """Keys and values far from zero, one head of them alone, and constants.

    Args:
        rng: Where the numbers come from.
        shape: (B, H, N, D).

    Yields:
        What they are, keys, values.
    """
    far = rng.uniform(3.0, 8.0)
    sign = np.where(np.arange(shape[0]) % 2, -1.0, 1.0)[:, None, None, None]
    k, v = (_drawn(rng, shape) + side * far * sign for side in (1, -1))
    yield f"numbers about ±{far:.3g}, spread by 1", k.astype(np.float32), v.astype(np.float32)
    k, v = (_drawn(rng, shape) for _ in range(2))
    head = int(rng.integers(0, shape[1]))
    k[:, head] += far
    v[:, head] -= far
    yield f"numbers of head {head} alone about ±{far:.3g}", k.astype(np.float32), v.astype(np.float32)
    k, v = (_drawn(rng, shape) for _ in range(2))
    for x in (k, v):
        same = rng.choice([-1.0, 1.0], shape[:3]) * rng.uniform(0.2, 1.0, shape[:3])
        x[..., : shape[3] // 2] = same[..., None]
        x[:, :, 0::2] = same[:, :, 0::2, None]
    yield "one number in a whole token, or in half of it", k.astype(np.float32), v.astype(np.float32)


def small(rng: np.random.Generator, width: int, tokens: int) -> Iterator[tuple[str, Array, Array]]:
    """The same kinds of numbers at a head size that may fill no group.

    Args:
        rng: Where the numbers come from.
        width: Head size.
        tokens: Tokens of two sequences and three heads.

    Yields:
        What they are, keys, values.
    """
    shape = (2, 3, tokens, width)
    k, v = (_drawn(rng, shape).astype(np.float32) for _ in range(2))
    yield "numbers in ±1", k, v
    off = rng.uniform(1.5, 4.0)
    k, v = ((_drawn(rng, shape) + side * off).astype(np.float32) for side in (1, -1))
    yield f"numbers about ±{off:.3g}", k, v


def judge_sizes(job: Judged, tokens: int) -> None:
    """Head sizes that are odd, small, or one more than a group: refused, or right.

    Args:
        job: The store.
        tokens: How many show codes.
    """
    rng = job.draw("sizes", job.told)
    if isinstance(job.coder, CacheCoder) and not job.coder.feeds_whole and tokens <= 32:
        tokens = _FEW
    for width in SIZES:
        for words, k, v in small(rng, width, tokens):
            quantity = f"head size {width}, {words}"
            try:
                held(job, quantity, k, v, _limit(job, k, v), whole=True)
            except Raised as fault:
                job.found.claim(
                    f"{job.label}: head size {width}: refused, or right", True,
                    measured=f"refused: {fault.brief(120)}", limit="refused, or right",
                )  # fmt: skip
                break
            except BadResult as fault:
                job.found.claim(
                    f"{job.label}: head size {width}: refused, or right", False, measured=fault.message,
                    limit="refused, or right", **job.coder.where,
                )  # fmt: skip
                job.wrong.append(f"a head size of {width} {fault.message}")
                break


def _one_range(job: Judged, words: str, k: Array, v: Array) -> None:
    """Numbers with one range in every group, so that the step of keys and that of values show."""
    x, back = np.stack([k, v]).astype(np.float64), held(job, words, k, v, _limit(job, k, v), whole=True)
    if not np.all(np.isfinite(back)):
        return
    off = np.abs(back - x)
    lattices = [Lattice.of(part) for part in back]
    if not all(each.covers(part, job.bits) for each, part in zip(lattices, back, strict=True)):
        return
    i = max((0, 1), key=lambda i: float(off[i].max()) / lattices[i].step)
    clipped = only_clipped(x[i], off[i], SLACK * job.half, lattices[i])
    hold_step(job, off[i], lattices[i], f"{'V' if i else 'K'}, {words}", clipped)


def _between(rng: np.random.Generator, shape: Shape, low: float) -> Array:
    """Numbers from ``low`` to 1, both of them in every group that a scale may be taken over."""
    return np.asarray(low + (1.0 - low) * (even(rng, shape) + 1.0) / 2.0, np.float32)


def _drawn(rng: np.random.Generator, shape: Shape) -> Array:
    return rng.uniform(-1.0, 1.0, shape)


def _limit(job: Judged, k: Array, v: Array) -> Array:
    """One for all: any scale may be shared by all that is stored, so the largest number of all sets it."""
    largest = max(float(np.abs(k).max()), float(np.abs(v).max()))
    return np.full((2, *k.shape[:3], 1), SLACK * job.half * largest)
