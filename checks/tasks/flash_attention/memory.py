"""Whether scores are ever held for all pairs of rows: traced peak bytes as N doubles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.resident import ANSWERS, pairs_held
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.gate import FAR, sound
from judge_tui.checks.tasks.flash_attention.lowered import lower_precision
from judge_tui.checks.tasks.flash_attention.strips import attention_in_strips
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["peak_memory"]

#: Largest exponent of the growth: 1 is linear, 2 holds a score for every pair of rows.
MOST_GROWTH = 1.5
#: Rows of a tile and D; N is so many tiles, doubled from one to the next.
_TILES, _WIDTHS, _COUNTS = (52, 68), (6, 10), (4, 8, 16, 32)
#: Seconds of one call past which N is doubled no further.
_LONG = 2.0
#: What Python itself may take for loops and small objects.
_NOISE = 4096.0


@check(
    "peak_memory",
    "holds no N × N array",
    establishes="Peak bytes beyond inputs and output grow more slowly than N^1.5, traced, and by the "
    "kernel's count nothing is resident for every pair of rows.",
    roles=("forward",),
    version=6,
    budget=90,
)
def peak_memory(bench: Bench, found: Findings) -> str:
    """Trace allocations of one head at four lengths to about 2048, and fit how the peak grows."""
    forward = Forward(bench)
    # A mask that is handed over is an (N, N) array of the caller's.
    causal = forward.causal[0] and not forward.mask
    error, limit = sound(found, forward, bench, causal=causal)
    if error > limit:
        return f"what it computes is not attention ({error:.2g} off), so its memory says nothing"
    points: list[tuple[float, float]] = []
    for length in _lengths(bench):
        bench.progress(f"N = {length}", None)
        beyond, seconds = _beyond(bench, forward, found, length, causal)
        points.append((float(length), beyond))
        if len(points) > 1 and (seconds > _LONG or 8 * seconds > bench.left):
            break
    if found.verdict is Verdict.FAIL:
        return f"what it computes at N = {points[-1][0]:.0f} is not attention, so its memory says nothing"
    if not points[-1][1] > 0:
        untraced = _untraced(bench, forward, found, causal)
        return _seen(bench, forward, found, causal) or untraced
    (before, _smaller), (longest, beyond) = points[-2:]
    growth = _growth(points)
    matrix = beyond / (longest * longest * 8)
    where = _busiest(bench, forward, int(before), causal)[1] if growth > MOST_GROWTH else {}
    found.limit(
        f"growth exponent of the peak, N = {before:.0f} to {longest:.0f}",
        growth,
        MOST_GROWTH,
        curve=Curve("N", "peak bytes beyond inputs and output", tuple(points), log_x=True, log_y=True),
        **where,
    )
    name = f"peak beyond inputs and output, N = {longest:.0f}, {_cut(bench)}"
    found.note(name, beyond, unit="B")
    found.note("the same over one float64 (N, N) matrix", matrix)
    if seen := _seen(bench, forward, found, causal):
        return seen
    kind = "an (N, N) array is held" if growth > MOST_GROWTH else f"limit {MOST_GROWTH}"
    share = f"{100 * matrix:.3g} % of one (N, N) matrix"
    return f"peak beyond inputs and output grows as N^{growth:.2f} ({kind}): {share} at N = {longest:.0f}"


def _seen(bench: Bench, forward: Forward, found: Findings, causal: bool) -> str:
    """What the kernel saw of it, as a clause; asked where the trace shows nothing wrong."""

    def call(worker: Worker, length: int) -> float:
        tile, width = _tile_and_width(bench)
        case = drawn(bench.rng("resident", length), (1, 1, length, width), tile, causal)
        return relative_error(forward(case, worker=worker), attention_in_strips(case), axis=(-2, -1))

    if found.verdict is Verdict.FAIL:
        return ""
    seen = pairs_held(bench, found, [forward.binding.file], call, forward.place)
    lower = lower_precision(forward) if seen.startswith(ANSWERS) else None
    return seen if lower is None else f"{seen}, whatever it holds; {lower.text}"


def _growth(points: Sequence[tuple[float, float]]) -> float:
    """Exponent of the last doubling."""
    (before, smaller), (longest, larger) = points[-2:]
    return math.log(max(larger, _NOISE) / max(smaller, _NOISE)) / math.log(longest / before)


def _untraced(bench: Bench, forward: Forward, found: Findings, causal: bool) -> str:
    """A peak below the output's own bytes: the trace was ended, so the largest array is all there is."""
    found.claim(
        "the trace could be read",
        False,
        otherwise=Verdict.WARN,
        note="Tracing was stopped inside the call.",
        **forward.place,
    )
    counted = [(float(n), *_busiest(bench, forward, n, causal)) for n in (512, 1024)]
    growth = _growth([(length, largest) for length, largest, _where in counted])
    where = counted[-1][2] if growth > MOST_GROWTH else {}
    found.limit("growth exponent of the largest array, N = 512 to 1024", growth, MOST_GROWTH, **where)
    return f"the submission stops the trace of allocations; its largest array grows as N^{growth:.2f}"


def _beyond(
    bench: Bench, forward: Forward, found: Findings, length: int, causal: bool
) -> tuple[float, float]:
    """Peak bytes less O's own, and the seconds of the call."""
    case = _case(bench, length, causal)
    if length == _lengths(bench)[0]:
        forward(case)  # what is made once, such as caches of einsum, is no working set
    out, returned = forward.returned(case, memory=True)
    error = relative_error(out, case.truth, axis=(-2, -1))
    if not error <= FAR:
        found.limit(f"O at N = {length}, relative error per head", error, FAR)
    peak = returned.result.counters.get("peak_bytes", 0)
    # An output in float32 costs half; what the worker says of it may only move the figure by O's size.
    size = case.q.nbytes if "float32" not in str(returned.result.tree)[:200] else case.q.nbytes // 2
    return (float(peak) - size if isinstance(peak, (int, float)) else 0.0), returned.result.own_seconds


def _tile_and_width(bench: Bench) -> tuple[int, int]:
    sizes = bench.sizes("memory")
    return sizes.between(*_TILES), sizes.between(*_WIDTHS)


def _lengths(bench: Bench) -> tuple[int, ...]:
    tile, _width = _tile_and_width(bench)
    return tuple(tile * count for count in _COUNTS)


def _cut(bench: Bench) -> str:
    tile, width = _tile_and_width(bench)
    return f"D = {width}, T = {tile}"


def _case(bench: Bench, length: int, causal: bool) -> Case:
    tile, width = _tile_and_width(bench)
    return drawn(bench.rng("memory", length), (1, 1, length, width), tile, causal, spread=0.1)


def _busiest(bench: Bench, forward: Forward, length: int, causal: bool) -> tuple[float, dict[str, Any]]:
    """Bytes of the largest array that a call makes, and where."""
    counters = forward.counters(_case(bench, length, causal))
    largest = counters.get("largest_allocation", 0)
    where = forward.located(counters.get("largest_allocation_at"))
    return (float(largest) if isinstance(largest, int | float) else 0.0), where
