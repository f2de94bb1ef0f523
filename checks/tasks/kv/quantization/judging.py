"""One quantized store against its own step, against absmax scaling, and in bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.quantization.coder import CacheCoder, Coder
from judge_tui.checks.tasks.kv.quantization.truth import FLOAT16, Lattice, absmax, even, rising, wide
from judge_tui.checks.verdict import Verdict

__all__ = ["Judged", "judge_codes", "named_bits"]

Array = npt.NDArray[Any]
_SHAPE = (2, 3, 32, 64)
_MANY = 192
_OUTLIER = 50.0
_LARGE = 6.0
#: Fewer bytes than this for a number, and the numbers must be elsewhere.
_VISIBLE = 0.2
#: How much worse than half a step of absmax scaling a number may come back.
_SLACK = 1.5


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


def judge_codes(bench: Bench, found: Findings, coder: Coder, told: int) -> Judged:
    """Hold one store at one width against everything but attention.

    Args:
        bench: Where it is judged.
        found: Gathers the evidence.
        coder: The store.
        told: Bits to make it with; 0 when it takes none.

    Raises:
        Fault: A plain prompt makes it raise, or comes back in another shape.
    """
    job = Judged(bench, found, coder, told, told or named_bits(coder.name))
    if _even(job, whole=True):
        # The newest tokens may be kept as they are: more of them show the codes.
        _even(job, whole=True, tokens=_MANY)
    if isinstance(coder, CacheCoder) and coder.feeds_whole:
        _even(job, whole=False)
    _cases(job)
    _zero(job)
    if job.bits == 4:
        _odd(job)
    _plain_numbers(job)
    _weight(job)
    return job


def named_bits(name: str) -> int:
    """Bits of a code as a name tells them; 0 where it does not."""
    return 4 if re.search(r"int_?4|4_?bit|q4", name, re.I) else 0 if not re.search(r"8", name) else 8


def _even(job: Judged, *, whole: bool, tokens: int = _SHAPE[2]) -> bool:
    """Numbers within ±1 whose range is the same in every group that a scale may be taken over.

    Returns:
        Whether they came back exactly.
    """
    rng = job.draw("even", job.told, int(whole), tokens)
    shape = (*_SHAPE[:2], tokens, _SHAPE[3])
    k, v = even(rng, shape), even(rng, shape)
    x = np.stack([k, v]).astype(np.float64)
    back = job.back(k, v, whole=whole)
    lattice = Lattice.of(back)
    if not job.bits:
        job.bits = _width(job, lattice)
    off = np.abs(back - x)
    fed = f"a prompt of {tokens} at once" if whole else "token by token"
    quantity = f"{job.label}, {fed}: largest |x − dequantized|, numbers in ±1"
    if not np.all(np.isfinite(back)):
        _not_finite(job, quantity)
        return False
    worst = float(off.max())
    limit = _SLACK * job.half
    cause = _cause(x, back, lattice, limit)
    clipped = _only_clipped(x, off, limit, lattice)
    ok = job.found.limit(
        quantity, worst, limit, otherwise=Verdict.WARN if clipped else Verdict.FAIL, **job.coder.where,
        note=f"limit: {_SLACK} × half a step of absmax scaling per token and head; {_where(off)}"
        + (f"; {cause}" if cause else ""),
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"{fed}: off by {worst:.3g}, where absmax scaling allows {limit:.3g}{_so(cause)}")
    _own_step(job, off, lattice, fed, clipped)
    return worst < 1e-6


def _width(job: Judged, lattice: Lattice) -> int:
    """Bits of a code that no name tells: what comes back shows it, and bytes cannot hold more of them."""
    bits = lattice.bits or 8
    if bits > 4 and (weight := job.coder.weight(job.told)) and weight.each >= _VISIBLE:
        bits = min(bits, max(2, int(8 * weight.each)))
    return bits


def _own_step(job: Judged, off: Array, lattice: Lattice, fed: str, clipped: bool) -> None:
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


def _not_finite(job: Judged, quantity: str) -> None:
    job.found.limit(quantity, float("nan"), _SLACK * job.half, **job.coder.where)
    job.wrong.append(f"{quantity.partition(': ')[2].partition(',')[0]} are not finite")


def _where(off: Array) -> str:
    part, b, h, t, d = (int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
    return f"worst at {'V' if part else 'K'}, sequence {b}, head {h}, token {t}, channel {d}"


def _so(cause: str) -> str:
    return f" ({cause})" if cause else ""


def _only_clipped(x: Array, off: Array, limit: float, lattice: Lattice) -> bool:
    """Whether only the ends of the range are over: a scale of absmax / 2^(bits − 1) saturates one of them."""
    if not lattice.step:
        return False
    over = off > min(limit, lattice.step * 0.55)
    return bool(np.all(np.abs(x[over]) >= 1.0 - lattice.step) and off.max() <= 1.05 * lattice.step)


def _cause(x: Array, back: Array, lattice: Lattice, limit: float) -> str:
    """What wrong numbers look like."""
    off = np.abs(back - x)
    if off.max() <= limit:
        return ""
    swapped = x.copy()
    swapped[..., 0::2], swapped[..., 1::2] = x[..., 1::2], x[..., 0::2]
    if np.abs(back - swapped).max() <= limit:
        return "every second number is exchanged with the one before: the halves of the bytes are swapped"
    halves = np.concatenate([x[..., 0::2], x[..., 1::2]], axis=-1)
    if np.abs(back - halves).max() <= limit:
        return "even channels come back in front of the odd ones: packed in one order, unpacked in another"
    wrong = off > limit
    span = back.max() - back.min()
    rounds = np.rint(off[wrong] / (lattice.step * 256)) if lattice.step else np.zeros(1)
    if lattice.step and np.all(rounds == 1) and np.allclose(off[wrong], lattice.step * 256, rtol=0.05):
        return "numbers are 256 steps off: codes of 0…255 wrapped round in eight signed bits"
    if np.mean(wrong) > 0.9 and span < 1e-6:
        return "every answer is the same"
    sides = [float(np.mean(wrong[i])) for i in (0, 1)]
    if min(sides) == 0:
        return f"only {'values' if sides[0] == 0 else 'keys'} are wrong"
    return f"{np.mean(wrong):.0%} of the numbers are wrong"


def _cases(job: Judged) -> None:
    """A channel that is fifty times larger, and tokens that grow, fed one by one."""
    rng = job.draw("cases", job.told)
    channel = int(rng.integers(0, _SHAPE[3]))
    k, v = (wide(rng, _SHAPE, channel, _OUTLIER) for _ in range(2))
    x = np.stack([k, v])
    limit = _SLACK * job.half * np.abs(x).max(axis=-1, keepdims=True)
    _held(job, f"channel {channel} is {_OUTLIER:g} times larger", k, v, limit, whole=True)
    k, v = rising(rng, _SHAPE), rising(rng, _SHAPE)
    x = np.stack([k, v])
    # Any scale may be shared by all that is stored, so the largest number of all sets the limit.
    limit = _SLACK * job.half * np.full((*x.shape[:-1], 1), np.abs(x).max())
    _held(job, "tokens that grow to 285 times the first, one by one", k, v, limit, whole=False)


def _held(job: Judged, words: str, k: Array, v: Array, limit: Array, *, whole: bool) -> None:
    x = np.stack([k, v]).astype(np.float64)
    back = job.back(k, v, whole=whole)
    quantity = f"{job.label}: {words}: largest |x − dequantized| over its limit"
    with np.errstate(invalid="ignore"):
        share = np.abs(back - x) / limit
    over = share > 1.0
    # One saturated code at the end of a range is a matter of the convention.
    ends = np.abs(x) >= 0.9 * np.abs(x).max(axis=-1, keepdims=True)
    clipped = bool(np.all(ends[over])) and share.max() <= 2.0 / _SLACK * 1.05
    worst = float(share.max()) if np.all(np.isfinite(back)) else float("nan")
    note = f"limit: {_SLACK} × half a step of absmax scaling; {_where(np.nan_to_num(share, nan=np.inf))}"
    if clipped and over.any():
        job.found.note(
            quantity, worst, limit=1.0, note=f"{note}; only ends of a range, where a code saturates"
        )
        return
    ok = job.found.limit(quantity, worst, 1.0, note=note, **job.coder.where)
    if not ok and not job.wrong:
        job.wrong.append(f"{words}: {worst:.3g} times what absmax scaling allows")


def _zero(job: Judged) -> None:
    """A prompt of zeros, zero tokens among others, and one number all over."""
    rng = job.draw("zero", job.told)
    nothing = np.zeros(_SHAPE, np.float32)
    back = job.back(nothing, nothing)
    worst = float(np.abs(back).max())
    ok = job.found.limit(
        f"{job.label}: keys and values of zeros: largest |dequantized|", worst, 1e-6, **job.coder.where
    )
    if not ok:
        job.wrong.append(f"zeros come back as {worst:.3g}")
    k, v = even(rng, _SHAPE), even(rng, _SHAPE)
    for x in (k, v):
        x[:, :, 5:9] = 0.0
    limit = np.full((2, *_SHAPE[:3], 1), _SLACK * job.half)
    _held(job, "four tokens of zeros among others", k, v, limit, whole=True)
    same = np.full(_SHAPE, 0.7, np.float32)
    back = job.back(same, same)
    worst = float(np.abs(back - 0.7).max())
    ok = job.found.limit(
        f"{job.label}: 0.7 all over: largest |x − dequantized|", worst, _SLACK * job.half * 0.7,
        otherwise=Verdict.WARN, **job.coder.where,
    )  # fmt: skip
    if not ok and not job.wrong:
        job.wrong.append(f"0.7 all over comes back {worst:.3g} off: a range of zero is taken for a step")


def _odd(job: Judged) -> None:
    """Two codes per byte, and a head size that is odd: refused, or right."""
    rng = job.draw("odd", job.told)
    shape = (*_SHAPE[:3], 7)
    k, v = (rng.uniform(-1, 1, shape).astype(np.float32) for _ in range(2))
    quantity = f"{job.label}: head size 7: refused, or right"
    try:
        back = job.back(k, v)
    except Raised as fault:
        job.found.claim(quantity, True, measured=f"refused: {fault.message[:120]}", limit="refused, or right")
        return
    except BadResult as fault:
        job.found.claim(quantity, False, measured=fault.message, limit="refused, or right", **job.coder.where)
        job.wrong.append(f"a head size of 7 {fault.message}")
        return
    worst = float(np.abs(back - np.stack([k, v])).max())
    ok = job.found.limit(f"{quantity}: largest |x − dequantized|", worst, 2.0 * job.half, **job.coder.where)
    if not ok:
        job.wrong.append(f"a head size of 7 is taken and comes back {worst:.3g} off")


def _plain_numbers(job: Judged) -> None:
    """Normal numbers and a large one: what the choice of groups costs beside one scale per token and head."""
    rng = job.draw("normal", job.told)
    k, v = (rng.standard_normal(_SHAPE).astype(np.float32) for _ in range(2))
    for x in (k, v):
        x[tuple(rng.integers(0, _SHAPE))] = _LARGE
    x = np.stack([k, v]).astype(np.float64)
    error = float(np.sqrt(np.mean((job.back(k, v) - x) ** 2)))
    plain = float(np.sqrt(np.mean((absmax(x, job.bits) - x) ** 2)))
    ok = job.found.limit(
        f"{job.label}: normal numbers and one of {_LARGE:g}: error over that of absmax scaling "
        "per token and head, root mean squares",
        error / plain, _SLACK, otherwise=Verdict.WARN, note=f"{error:.4g} against {plain:.4g}",
        **job.coder.where,
    )  # fmt: skip
    if not ok and not job.wrong:
        job.wrong.append(f"{error / plain:.2g} times the error of one scale per token and head")


def _weight(job: Judged) -> None:
    weight = job.coder.weight(job.told)
    quantity = f"{job.label}: bytes per number with its scales, head size 64"
    if weight is None:
        job.found.note(quantity, "unknown", note="no array shows how many tokens fit")
        return
    if weight.each < _VISIBLE:
        job.found.note(
            quantity, weight.each, unit="B", note="kept where the object does not lead: not to be counted"
        )
        return
    table = weight.table
    most, why = (1.05, "eight bits take 1") if job.bits == 4 else (2.0, "float16 takes 2, float32 4")
    ok = job.found.limit(
        quantity, weight.each, most, unit="B", note=f"{weight.how}; {why}", table=table,
        otherwise=Verdict.FAIL if weight.each > 2.0 else Verdict.WARN, **job.coder.where,
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"{weight.each:.3g} bytes per number with its scales, where {why}")
