"""One quantized store as it is judged, and numbers that come back held to a limit or to their own step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.quantized.coder import Coder
from judge_tui.checks.tasks.kv.quantized.number_words import number_words
from judge_tui.checks.tasks.kv.quantized.truth import FLOAT16, Lattice
from judge_tui.checks.verdict import Verdict

__all__ = ["SLACK", "Judged", "forgiven", "held", "hold_step", "only_clipped", "too_coarse", "worst_place"]

Array = npt.NDArray[Any]
#: How much worse than half a step of absmax scaling a number may come back.
SLACK = 1.5
#: Numbers that one scale may serve, beside those of a token and head: axes of (2, B, H, N, D).
_SERVED: dict[str, tuple[int, ...]] = {
    "a token of all heads": (2, 4),
    "all tokens of a head": (3, 4),
    "a channel of all tokens": (3,),
    "a sequence": (2, 3, 4),
    "all sequences": (1, 2, 3, 4),
    "keys and values": (0, 1, 2, 3, 4),
}


@dataclass(slots=True)
class Judged:
    """One store at one width, as it is judged.

    Attributes:
        bench: Where it is judged.
        found: Gathers the evidence.
        coder: The store.
        told: Bits that it is told; 0 when it cannot be.
        bits: Bits that it is held to.
        wrong: What was wrong, for the summary.
    """

    bench: Bench
    found: Findings
    coder: Coder
    told: int
    bits: int = 8
    wrong: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """``name, 8 bits``."""
        return f"{self.coder.name}, {self.bits} bits"

    @property
    def half(self) -> float:
        """Half a step of absmax scaling, of numbers within ±1."""
        return 0.5 / float(2 ** (self.bits - 1) - 1)

    def back(self, k: Array, v: Array, *, whole: bool = True) -> Array:
        """Keys and values after both ways, stacked."""
        return np.stack(self.coder.restored(k, v, self.told, whole=whole))

    def draw(self, *names: str | int) -> np.random.Generator:
        """A generator of its own for every case."""
        return self.bench.rng(*names)


def held(job: Judged, words: str, k: Array, v: Array, limit: Array, *, whole: bool) -> Array:
    """Hold what comes back to a limit, but for ends of a range that saturate.

    Args:
        job: The store.
        words: What the numbers are.
        k: (B, H, N, D).
        v: As k.
        limit: (2, B, H, N, 1), of K and V.
        whole: Hand all tokens over in one call.

    Returns:
        (2, B, H, N, D), what came back.
    """
    x = np.stack([k, v]).astype(np.float64)
    back = job.back(k, v, whole=whole)
    quantity = f"{job.label}: {words}: largest |x − dequantized| over its limit"
    with np.errstate(invalid="ignore"):
        share = np.abs(back - x) / limit
    clipped = bool(np.all(forgiven(share, x, SLACK * job.half) <= 1.0))
    worst = float(share.max()) if np.all(np.isfinite(back)) else float("nan")
    note = f"limit: {SLACK} × half a step of absmax scaling; {worst_place(np.nan_to_num(share, nan=np.inf))}"
    if clipped and worst > 1.0:
        job.found.note(
            quantity, worst, limit=1.0, note=f"{note}; only ends of a range, where a code saturates"
        )
        return back
    ok = job.found.limit(quantity, worst, 1.0, note=note, **job.coder.where)
    if not ok and not job.wrong:
        told = _shared(x, back, SLACK * job.half) or number_words(x, back, share > 1.0, limit)
        why = f" ({told})" if told else ""
        job.wrong.append(f"{words}: {worst:.3g} times what absmax scaling allows{why}")
    return back


def _shared(x: Array, back: Array, allowed: float) -> str:
    """What one scale serves, where that explains how far numbers are off; empty where nothing does.

    Args:
        x: (2, B, H, N, D), what went in.
        back: What came back.
        allowed: How far off numbers within ±1 may be.
    """
    off = np.abs(back - x)
    for words, axes in _SERVED.items():
        if np.all(off <= allowed * np.abs(x).max(axis=axes, keepdims=True)):
            return f"as where one scale serves {words}"
    return ""


def forgiven(share: Array, x: Array, limit: float) -> Array:
    """Errors over their limit, but for one saturated code at the end of a range, which is a convention.

    A step of absmax / 2^(bits − 1), rounded to float16, is over the limit for the larger numbers of a token
    only, those that end the range of a group.

    Args:
        share: |x − dequantized| over its limit.
        x: (..., D), what went in.
        limit: For numbers within ±1.

    Returns:
        The same, 1 at the most where it is forgiven.
    """
    ends = np.abs(x) >= 0.6 * np.abs(x).max(axis=-1, keepdims=True)
    most = 2.0 / SLACK * 1.05 + FLOAT16 / limit
    return np.where(ends & (share <= most), np.minimum(share, 1.0), share)


def hold_step(job: Judged, off: Array, lattice: Lattice, fed: str, clipped: bool) -> None:
    """Hold numbers to half a step of their own scale.

    Args:
        job: The store.
        off: |x − dequantized|.
        lattice: Read off what came back.
        fed: What the numbers are.
        clipped: Whether only saturated ends are over: that warns.
    """
    quantity = f"{job.label}, {fed}: largest |x − dequantized| in steps of its own scale"
    if not lattice.step:
        job.found.note(
            quantity, f"{lattice.levels} values come back", note="finer than codes: there is no step to hold"
        )
        return
    share = float(off.max()) / lattice.step
    limit = 0.5 + FLOAT16 / lattice.step
    over = float(np.mean(off > lattice.step * limit))
    ok = job.found.limit(
        quantity, share, limit, unit="steps", otherwise=Verdict.WARN if clipped else Verdict.FAIL,
        note=f"step {lattice.step:.4g}, {lattice.levels} levels; half a step, and what float16 rounds; "
        f"{over:.1%} of the numbers are over", **job.coder.where,
    )  # fmt: skip
    if not ok and not clipped and not job.wrong:
        how = "rounded towards one side" if share <= 1.01 and over > 0.25 else f"{over:.1%} of the numbers"
        job.wrong.append(f"{fed}: {share:.3g} of its own steps off, half a step is allowed ({how})")


def too_coarse(off: Array, lattice: Lattice, step: float) -> bool:
    """Whether numbers are rounded as they should be, to a step that is too large.

    Args:
        off: How far every number is off.
        lattice: What comes back.
        step: That of absmax scaling.
    """
    return bool(lattice.step > SLACK * step and off.max() <= 0.505 * lattice.step)


def only_clipped(x: Array, off: Array, limit: float, lattice: Lattice) -> bool:
    """Whether only the ends of the range are over: a scale of absmax / 2^(bits − 1) saturates one of them."""
    if not lattice.step:
        return False
    over = off > min(limit, lattice.step * 0.55)
    return bool(np.all(np.abs(x[over]) >= 1.0 - lattice.step) and off.max() <= 1.05 * lattice.step)


def worst_place(off: Array) -> str:
    """Where the largest of (2, B, H, N, D) stands, in words."""
    part, b, h, t, d = (int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
    return f"worst at {'V' if part else 'K'}, sequence {b}, head {h}, token {t}, channel {d}"
