"""One quantized store against its own step, against absmax scaling, and in bytes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.quantized.aging import judge_aging
from judge_tui.checks.tasks.kv.quantized.cases import judge_cases, judge_zeros
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder, Coder
from judge_tui.checks.tasks.kv.quantized.drifting import drift
from judge_tui.checks.tasks.kv.quantized.held import (
    SLACK,
    Judged,
    hold_step,
    only_clipped,
    too_coarse,
    worst_place,
)
from judge_tui.checks.tasks.kv.quantized.magnitudes import judge_magnitudes
from judge_tui.checks.tasks.kv.quantized.number_words import number_words, toward_zero
from judge_tui.checks.tasks.kv.quantized.ranges import judge_ranges, judge_sizes
from judge_tui.checks.tasks.kv.quantized.rounded_again import judge_oldest
from judge_tui.checks.tasks.kv.quantized.truth import Lattice, absmax, drawn_shape, even
from judge_tui.checks.tasks.kv.words.misplaced import misplaced
from judge_tui.checks.verdict import Verdict

__all__ = ["Judged", "judge_codes", "named_bits"]

Array = npt.NDArray[Any]
_TOKENS, _MANY = 32, 192
#: How far off, relatively, codes leave a row.
_NEAR = 0.2
#: Steps off that are no matter of rounding.
_STEPS = 3
_LARGE = 6.0
_PACKS = re.compile(r"(?i)(\w+\.)?_*pack_?(\w*(nibble|4|four|half|codes)\w*)?$")
#: Fewer bytes than this for a number, and the numbers must be elsewhere.
_VISIBLE = 0.2


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
    tokens = _TOKENS
    if _even(job, whole=True):
        # The newest tokens may be kept as they are: more of them show the codes.
        tokens = _MANY
        _even(job, whole=True, tokens=tokens)
    if isinstance(coder, CacheCoder) and coder.feeds_whole:
        _even(job, whole=False)
    judge_cases(job)
    judge_magnitudes(job)
    judge_zeros(job)
    judge_ranges(job, drawn_shape(bench.sizes("ranges", told), tokens))
    judge_sizes(job, tokens)
    _plain_numbers(job)
    _weight(job)
    judge_aging(job)
    judge_oldest(job)
    return job


def named_bits(name: str) -> int:
    """Bits of a code as a name tells them; 0 where it does not."""
    return 4 if re.search(r"int_?4|4_?bit|q4", name, re.I) else 0 if not re.search(r"8", name) else 8


def _even(job: Judged, *, whole: bool, tokens: int = _TOKENS) -> bool:
    """Numbers within ±1 whose range is the same in every group that a scale may be taken over.

    Returns:
        Whether they came back exactly.
    """
    rng = job.draw("even", job.told, int(whole), tokens)
    shape = drawn_shape(job.bench.sizes("even", job.told, int(whole), tokens), tokens)
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
    limit = SLACK * job.half
    cause = _cause(x, back, lattice, limit)
    if too_coarse(off, lattice, 2.0 * job.half):
        times = lattice.step / (2.0 * job.half)
        cause = f"its step is {lattice.step:.3g}, {times:.3g} times that of absmax scaling"
    elif only_clipped(x, off, limit, lattice):
        cause = "one end of the range saturates, as with a scale of absmax / 2^(bits - 1)"
    if not (whole or worst <= limit) and (told := drift(job, k, v, off, limit)):
        cause = told
    ok = job.found.limit(
        quantity, worst, limit, **job.coder.where,
        note=f"limit: {SLACK} × half a step of absmax scaling per token and head; {worst_place(off)}"
        + (f"; {cause}" if cause else ""),
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"{fed}: off by {worst:.3g}, where absmax scaling allows {limit:.3g}{_so(cause)}")
    hold_step(job, off, lattice, fed, clipped=False)
    return worst < 1e-6


def _width(job: Judged, lattice: Lattice) -> int:
    """Bits of a code that no name tells: what comes back shows it, and bytes cannot hold more of them."""
    bits = lattice.bits or 8
    if bits > 4 and (weight := job.coder.weight(job.told)) and weight.each >= _VISIBLE:
        bits = min(bits, max(2, int(8 * weight.each)))
    return bits


def _not_finite(job: Judged, quantity: str) -> None:
    job.found.limit(quantity, float("nan"), SLACK * job.half, **job.coder.where)
    job.wrong.append(f"{quantity.partition(': ')[2].partition(',')[0]} are not finite")


def _so(cause: str) -> str:
    return f" ({cause})" if cause else ""


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
    for name, one, other in zip(("keys", "values"), back, x, strict=True):
        told = misplaced(one, other, _NEAR) if one.ndim == 4 else ""
        if told and not told.endswith(": wrong"):
            return f"{name} of {told}"
    if told := toward_zero(x, back, lattice.step):
        return told
    sides = [float(np.mean(wrong[i])) for i in (0, 1)]
    if min(sides) == 0:
        return f"only {'values' if sides[0] == 0 else 'keys'} are wrong"
    share = f"{np.mean(wrong):.0%} of the numbers are wrong"
    told = _steps_off(back - x, lattice, wrong) or number_words(x, back, wrong, limit)
    return f"{share}: {told}" if told else share


def _steps_off(off: Array, lattice: Lattice, wrong: Array) -> str:
    """Whether wrong numbers are all off by one and the same number of steps."""
    if not lattice.step:
        return ""
    each = off[wrong] / lattice.step
    count = float(np.rint(np.median(np.abs(each))))
    if count < _STEPS or not np.all(np.abs(np.abs(each) - count) <= 1.0):
        return ""
    side = " too high" if (each > 0).all() else " too low" if (each < 0).all() else " off"
    lost = ", as where a code's sign is lost" if count in (16, 256) else ""
    return f"they are {count:.0f} steps{side}{lost}"


def _plain_numbers(job: Judged) -> None:
    """Normal numbers and a large one: what the choice of groups costs beside one scale per token and head."""
    rng = job.draw("normal", job.told)
    shape = drawn_shape(job.bench.sizes("normal", job.told), _TOKENS)
    k, v = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    for x in (k, v):
        x[tuple(rng.integers(0, shape))] = _LARGE
    x = np.stack([k, v]).astype(np.float64)
    error = float(np.sqrt(np.mean((job.back(k, v) - x) ** 2)))
    plain = float(np.sqrt(np.mean((absmax(x, job.bits) - x) ** 2)))
    ok = job.found.limit(
        f"{job.label}: normal numbers and one of {_LARGE:g}: error over that of absmax scaling "
        "per token and head, root mean squares",
        error / plain, SLACK, otherwise=Verdict.WARN, note=f"{error:.4g} against {plain:.4g}",
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
    if job.bits == 4 and not isinstance(job.coder, CacheCoder) and (packer := _packer(job)):
        note = f"{weight.how}, before {packer} puts two of them into a byte"
        job.found.note(quantity, weight.each, unit="B", note=note)
        return
    table = weight.table
    most, why = (1.05, "eight bits take 1") if job.bits == 4 else (2.0, "float16 takes 2, float32 4")
    ok = job.found.limit(
        quantity, weight.each, most, unit="B", note=f"{weight.how}; {why}", table=table,
        otherwise=Verdict.FAIL if weight.each > 2.0 else Verdict.WARN, **job.coder.where,
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"{weight.each:.3g} bytes per number with its scales, where {why}")


def _packer(job: Judged) -> str:
    """What puts two codes into a byte, where the submission has a callable for that alone."""
    named = (f"{c.file}:{c.name}" for c in callables(job.bench.worker.loaded) if _PACKS.match(c.name))
    return next(named, "")
