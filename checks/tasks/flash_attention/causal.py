"""The causal mask: nothing leaks back over the diagonal, and tiles above it cost nothing."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised, Skipped
from judge_tui.checks.sizes import Range
from judge_tui.checks.tasks.flash_attention.beyond import touched
from judge_tui.checks.tasks.flash_attention.cases import Case, Shape, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.gate import sound
from judge_tui.checks.tasks.flash_attention.hiding import outweighed_hiding
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tolerance import calibrated
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["causal_skip", "causality"]

#: Tiles, how many of them, and rows behind them: even, uneven, of one row, one tile for all, many, large.
_CUTS: tuple[tuple[Range, Range, Range], ...] = (
    ((2, 6), (3, 5), (0, 0)),
    ((3, 7), (3, 4), (1, 2)),
    ((1, 1), (6, 12), (0, 0)),
    ((13, 20), (0, 0), (5, 12)),
    ((3, 5), (9, 11), (1, 2)),
    ((50, 64), (2, 2), (0, 0)),
)
#: The one in single precision: there what sums over later keys and takes them off again leaves a trace.
_SINGLE = 4
#: Sizes of changes; a large later key shows a maximum that is taken before the mask.
_SIZES = (0.1, 1.0, 1000.0)
_SIZES_SINGLE = (0.1, 1000.0, 1e6)
_CHANGES = ("keys and values", "keys", "values")

#: Most work with the mask over work without.
MOST_WORK = 0.75
#: Rows of a tile and D of what is counted; N is so many tiles.
_TILES, _WIDTHS, _COUNTS = (28, 36), (12, 20), (8, 16, 32)
_PRODUCTS = "multiply-adds"
#: The same over what attention takes without: three products where two are needed may be skipped too.
_MOST_OF_ATTENTION = 0.8
_OWN_COUNT = "Counted in the submission's own process."
#: Length, width and tile at which products take most of the time, and more of it.
_TIMED, _TIMED_LONGER = (1024, 128, 128), (2048, 256, 128)
#: The share of time with the mask that says that tiles above the diagonal are computed after all: without
#: them it is little over a half, and a third more where a large mask is added. What is above the first share
#: is timed longer, so that a busy machine accuses nobody.
_SHORT_OF_DOUBT, _MOST_TIME = 0.8, 0.85
#: The same where there is no time to time it longer.
_MOST_TIME_SHORT = 0.9
#: Seconds that must be left for that, and how often both are timed; the median of the pairs counts.
_CLOCK_LEFT, _TIMINGS, _TIMINGS_LONGER = 30.0, 3, 5


@check(
    "causality",
    "later keys leave earlier rows alone",
    establishes="Finite changes of later K and V leave every earlier row of O bit-equal.",
    roles=("forward",),
    version=5,
)
def causality(bench: Bench, found: Findings) -> str:
    """Change K and V from a cut on, for every cut, and compare the bits of the rows before it."""
    forward = Forward(bench)
    if True not in forward.causal:
        raise Skipped("it has no causal mask: it takes no such parameter and attends to every key")
    moved, still, compared = _Moves(), 0, 0
    for number, (tiles, count, behind) in enumerate(_CUTS):
        sizes = bench.sizes("cut", number)
        tile = sizes.between(*tiles)
        length = tile * sizes.between(*count) + sizes.between(*behind)
        shape = (1, sizes.between(1, 3), length, sizes.between(2, 16))
        cuts = np.arange(1, length)
        if length >= 100:
            cuts = bench.rng("cuts").choice(cuts, 12, False)
        elif length > 40:
            # Every second one lies inside a tile, and takes half the time.
            cuts = cuts[::2]
        base = _copies(bench, shape, tile, len(cuts), np.float32 if number == _SINGLE else np.float64)
        try:
            before = forward(base)
        except Raised as fault:
            if length % tile == 0:
                raise
            # A refusal of uneven tiles is `accuracy`'s to judge.
            found.note(f"N = {length}, T = {tile}", fault.message)
            continue
        for change in _CHANGES:
            after = forward(changed := _changed(bench, base, cuts, change))
            for index, cut in enumerate(cuts):
                moved.compare(before[index], after[index], int(cut), changed, change)
                still += int(np.array_equal(before[index, :, cut:], after[index, :, cut:], equal_nan=True))
                compared += 1
    error, limit = sound(found, forward, bench, causal=True)
    leak = moved.worst > 0
    small = moved.worst <= calibrated(0.0, np.float32)
    found.claim(
        "earlier rows that change, relative to O",
        not leak,
        measured=moved.worst,
        limit=0,
        unit="",
        otherwise=Verdict.WARN if small else Verdict.FAIL,
        note=moved.where,
        **(forward.place if leak else {}),
    )
    found.claim(
        "later rows that do not change at all",
        still == 0,
        measured=still,
        limit=0,
        unit="cuts",
        note="An answer that depends on nothing is causal too.",
    )
    if error > limit:
        return f"what it computes is not causal attention ({error:.2g} off), so its bits say nothing"
    if leak:
        kind = "in rounding only" if small else f"by up to {moved.worst:.2g} of O"
        why = outweighed_hiding(forward, [moved.case]) if moved.case is not None and not small else ""
        told = f"{moved.rows} earlier rows change {kind} when later {moved.change} change: {moved.where}"
        return f"{told}; {why}" if why else told
    if still:
        return f"rows after {still} of {compared} changes do not change: O does not depend on K and V there"
    return f"0 of {moved.seen} earlier rows change a bit over {compared} changes of later K and V"


class _Moves:
    """Rows before a cut that changed."""

    def __init__(self) -> None:
        self.seen = 0
        self.rows = 0
        self.worst = 0.0
        self.where = ""
        self.change = ""
        self.case: Case | None = None

    def compare(self, before: Array, after: Array, cut: int, case: Case, change: str) -> None:
        """Compare the rows before ``cut`` of one batch item (H, N, D)."""
        old, new = before[:, :cut], after[:, :cut]
        # −0 and 0 are one number; NaN stays NaN.
        differs = ~((old == new) | (np.isnan(old) & np.isnan(new))).all(axis=-1)
        self.seen += differs.size
        if not differs.any():
            return
        with np.errstate(invalid="ignore"):
            size = float(np.max(np.abs(new - old)) / max(float(np.max(np.abs(old))), 1e-300))
        size = float("inf") if size != size else size
        self.rows += int(differs.sum())
        if size > self.worst:
            row = int(np.argmax(differs.any(axis=0)))
            self.worst, self.change, self.case = size, change, case
            self.where = f"row {row} with keys from {cut} on, N={case.q.shape[2]} T={case.tile}"


def _copies(bench: Bench, shape: Shape, tile: int, count: int, dtype: npt.DTypeLike) -> Case:
    """The same rows in every batch item, so that one call holds every cut."""
    case = drawn(bench.rng("base", shape[2]), shape, tile, True, dtype=dtype)
    q, k, v = (np.repeat(a, count, axis=0) for a in (case.q, case.k, case.v))
    return Case(q, k, v, tile, True)


def _changed(bench: Bench, base: Case, cuts: Any, change: str) -> Case:
    rng = bench.rng("change", change, base.q.shape[2])
    k, v = base.k.copy(), base.v.copy()
    for index, cut in enumerate(cuts):
        shape = k[index, :, cut:].shape
        size = rng.choice(_SIZES if k.dtype == np.float64 else _SIZES_SINGLE)
        if "keys" in change:
            k[index, :, cut:] += (size * rng.standard_normal(shape)).astype(k.dtype)
        if "values" in change:
            v[index, :, cut:] += (size * rng.standard_normal(shape)).astype(v.dtype)
    return Case(base.q, k, v, base.tile, True)


@check(
    "causal_skip",
    "skips tiles above the diagonal",
    establishes="Values beyond the diagonal are not touched, and work with the causal mask falls toward "
    "half of what attention takes without it as N grows, as its own process counts it.",
    roles=("forward",),
    version=6,
)
def causal_skip(bench: Bench, found: Findings) -> str:
    """Count multiply-adds with and without the mask at three lengths to about 1024; poison values."""
    forward = Forward(bench)
    if not forward.switch:
        mask = "always masks" if forward.causal == (True,) else "never masks"
        raise Skipped(f"it takes no causal parameter and {mask}, so there is nothing to compare")
    error, limit = sound(found, forward, bench, causal=True)
    if error > limit:
        return f"what it computes is not causal attention ({error:.2g} off), so its work says nothing"
    computed = _beyond(bench, found, forward)
    points: list[tuple[float, float]] = []
    unit, places = "", []
    for length, width in _counted_sizes(bench):
        try:
            masked, full = (_counted(bench, forward, length, causal) for causal in (True, False))
            unit, ratio = _ratio(masked, full, length, width)
        except Skipped:
            if computed:
                return computed
            raise
        points.append((float(length), ratio))
        places = masked.get("work", [])
        if len(points) > 1 and bench.left < 52:
            break
    ratio, length = points[-1][1], int(points[-1][0])
    busiest = places[0][:2] if places and isinstance(places[0], list) else None
    where = forward.located(busiest) if ratio > MOST_WORK else {}
    found.limit(
        f"work with the mask over work without, in {unit}, N = {length}",
        ratio,
        MOST_WORK,
        # Tiles that an array of any content hides are not known beforehand.
        otherwise=Verdict.WARN if forward.mask else Verdict.FAIL,
        curve=Curve("N", "work ratio", tuple(points), log_x=True),
        note=_OWN_COUNT,
        **where,
    )
    wasted = _over_attention(found, forward, masked, length, width) if unit == _PRODUCTS else ""
    doubt = _against_the_clock(bench, found, forward) if unit == _PRODUCTS else ""
    trend, lengths = ", ".join(f"{y:.3f}" for _x, y in points), ", ".join(f"{x:.0f}" for x, _y in points)
    end = "tiles above the diagonal are computed" if ratio > MOST_WORK else f"limit {MOST_WORK}"
    told = f"causal work is {trend} of full work ({unit} by its own count, N = {lengths}; {end}){doubt}"
    return computed or wasted or told


def _beyond(bench: Bench, found: Findings, forward: Forward) -> str:
    """Whether values beyond the diagonal are touched; a clause where they are."""
    seen = touched(bench, forward)
    quantity = "rows before values of NaN beyond the diagonal that are NaN"
    if seen.share is None:
        found.note(quantity, "not established", note=seen.why)
        return ""
    fine = found.limit(
        quantity, 100 * seen.share, 0.0, unit="%", note="0 · NaN is NaN: what is skipped shows nothing.",
        # Tiles that an array of any content hides are not known beforehand.
        otherwise=Verdict.WARN if forward.mask else Verdict.FAIL,
        **({} if seen.share == 0 else forward.place),
    )  # fmt: skip
    return (
        ""
        if fine
        else f"tiles above the diagonal are computed: NaN there shows in {seen.share:.0%} of rows (0 · NaN)"
    )


def _over_attention(
    found: Findings, forward: Forward, masked: dict[str, Any], length: int, width: int
) -> str:
    """Work with the mask over QKᵀ and PV of all pairs, which no waste without the mask makes larger."""
    share = _number(masked, "multiply_adds") / (2 * length * length * width)
    fine = found.limit(
        f"multiply-adds with the mask over those of QKᵀ and PV without, N = {length}",
        share,
        _MOST_OF_ATTENTION,
        otherwise=Verdict.WARN,
        note=_OWN_COUNT,
        **({} if share <= _MOST_OF_ATTENTION else forward.place),
    )
    if fine or found.verdict is Verdict.FAIL:
        return ""
    return (
        f"work with the mask is {share:.2f} of what attention takes without: the unmasked call makes more "
        "than that, and whether tiles are skipped is known by its own count alone"
    )


def _against_the_clock(bench: Bench, found: Findings, forward: Forward) -> str:
    """Whether time falls as the counted work does; a clause where it does not."""
    size, pairs = _TIMED, _timed(bench, forward, _TIMED, _TIMINGS)
    if not pairs:
        return ""
    growth = math.prod(_TIMED_LONGER[:2]) * _TIMED_LONGER[0] / (math.prod(_TIMED[:2]) * _TIMED[0])
    affordable = _TIMINGS_LONGER * growth * max(map(sum, pairs)) < bench.left / 2
    decides = found.verdict is Verdict.PASS and len(pairs) == _TIMINGS
    if decides and _share(pairs) > _SHORT_OF_DOUBT and affordable:
        size, pairs = _TIMED_LONGER, _timed(bench, forward, _TIMED_LONGER, _TIMINGS_LONGER)
    share = _share(pairs)
    quantity = "seconds with the mask over seconds without, N = {}, D = {}, T = {}".format(*size)
    note = "By the trusted side's clock; work is counted in the submission's own process."
    if not decides:
        # what was timed once or twice may be a busy machine's doing
        found.note(quantity, share, note=note)
        return ""
    most = _MOST_TIME if size is _TIMED_LONGER else _MOST_TIME_SHORT
    fine = share <= most
    found.limit(quantity, share, most, otherwise=Verdict.WARN, note=note, **({} if fine else forward.place))
    told = f"; but it takes {share:.2f} of the time: other work grows, or escapes the count"
    return "" if fine else told


def _timed(
    bench: Bench, forward: Forward, size: tuple[int, int, int], count: int
) -> list[tuple[float, float]]:
    """Seconds with the mask and without, one after the other, as often as time is left."""
    length, width, tile = size
    pairs: list[tuple[float, float]] = []
    if bench.left < _CLOCK_LEFT:
        return pairs
    cases = [drawn(bench.rng("clock"), (1, 1, length, width), tile, causal) for causal in (True, False)]
    while len(pairs) < count:
        masked, full = (forward.returned(case)[1].result.own_seconds for case in cases)
        pairs.append((masked, full))
        if bench.left < 3 * (masked + full):
            break
    return pairs


def _share(pairs: list[tuple[float, float]]) -> float:
    return statistics.median(masked / max(full, 1e-9) for masked, full in pairs)


def _tile_and_width(bench: Bench) -> tuple[int, int]:
    sizes = bench.sizes("work")
    return sizes.between(*_TILES), sizes.between(*_WIDTHS)


def _counted_sizes(bench: Bench) -> list[tuple[int, int]]:
    """N and D of the calls whose work is counted."""
    tile, width = _tile_and_width(bench)
    return [(tile * count, width) for count in _COUNTS]


def _counted(bench: Bench, forward: Forward, length: int, causal: bool) -> dict[str, Any]:
    tile, width = _tile_and_width(bench)
    case = drawn(bench.rng("work", length), (1, 1, length, width), tile, causal)
    bench.progress(f"N = {length}", None)
    counters = forward.counters(case)
    if forward.uncountable:
        raise Skipped(f"it does not take arrays that count its work: {forward.uncountable}")
    if forward.disturbed:
        raise Skipped("it gives other bits while its work is counted, so the counts say nothing")
    return counters


def _ratio(masked: dict[str, Any], full: dict[str, Any], length: int, width: int) -> tuple[str, float]:
    """Matrix products where they carry the work, else all array elements too.

    Raises:
        Skipped: Nothing was counted.
    """
    products = [_number(counts, "multiply_adds") for counts in (masked, full)]
    if products[1] >= 1.5 * length * length * width:
        # QKᵀ and PV of the pairs on and below the diagonal: less is not attention
        if products[0] < (length + 1) * length * width:
            share = products[0] / (2 * length * length * width)
            raise Skipped(
                f"{share:.3f} of the work without the mask is less than the visible pairs need: "
                "part of its work is not counted"
            )
        return _PRODUCTS, products[0] / products[1]
    work = [made + _number(counts, "elements") for made, counts in zip(products, (masked, full), strict=True)]
    if work[1] < length * length:
        raise Skipped("its arithmetic does not go through NumPy's arrays, so there is no work to count")
    return "multiply-adds and array elements", work[0] / work[1]


def _number(counts: dict[str, Any], key: str) -> float:
    value = counts.get(key, 0)
    return float(value) if isinstance(value, (int, float)) else 0.0
