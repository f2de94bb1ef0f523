"""Whether forward, cache and backward together stay far below one (N, N) matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.resident import ANSWERS, pairs_held
from judge_tui.checks.tasks.flash_attention_bwd.gate import sound, wholly_wrong
from judge_tui.checks.tasks.flash_attention_bwd.lowered import lower_precision
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, posed
from judge_tui.checks.tasks.flash_attention_bwd.strips import gradients_in_strips
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["peak_memory"]

#: The challenge's own limit, of a float32 (N, N) matrix at N = 4096 and T = 128.
MOST_SHARE = 0.20
_LENGTH, _TILE, _WIDTHS = 4096, 128, (6, 10)
#: So many tiles are the lengths before it.
_COUNTS = ((1, 1), (2, 2), (3, 5), (7, 9), (14, 18))
#: Largest exponent of the growth: 1 is linear, 2 holds something for every pair of rows.
MOST_GROWTH = 1.5
#: What Python itself may take for loops and small objects.
_NOISE = 65536.0


@dataclass(frozen=True, slots=True)
class _Traced:
    """Bytes beyond inputs and outputs (O, dQ, dK, dV) of one length.

    Attributes:
        length: N.
        forward: Peak of the forward.
        held: What it leaves behind for the backward.
        backward: That and the backward's own peak.
        seconds: Of both calls.
    """

    length: int
    forward: float
    held: float
    backward: float
    seconds: float

    @property
    def peak(self) -> float:
        return max(self.forward, self.backward)


@check(
    "peak_memory",
    "holds no N × N array",
    establishes="Forward, its cache and backward together peak below 20 % of one float32 (N, N) matrix at "
    "N = 4096, T = 128, beyond inputs and outputs, and grow more slowly than N^1.5, traced, and by the "
    "kernel's count nothing is resident for every pair of rows.",
    roles=("forward", "backward"),
    version=4,
    budget=90,
)
def peak_memory(bench: Bench, found: Findings) -> str:
    """Trace the allocations of one head at lengths up to 4096 in tiles of 128."""
    attention = Attention(bench)
    if not sound(bench, attention, found):
        return "what it computes are not the gradients, so its memory says nothing"
    causal = attention.causal[0] and not attention.forward.mask
    attention(_problem(bench, 160, causal))  # what is made once, such as caches of einsum, is no working set
    traced: list[_Traced] = []
    lengths = _lengths(bench)
    for length in lengths:
        bench.progress(f"N = {length}", None)
        traced.append(_trace(attention, _problem(bench, length, causal)))
        # Work grows with the square of N.
        if 5 * traced[-1].seconds > (bench.left / 3 if len(traced) > 1 else bench.left / 2):
            break
    if len(traced) < 2:
        raise Skipped(f"one call at N = {lengths[0]} takes {traced[0].seconds:.0f} s while it is traced")
    return _judged(bench, attention, found, traced, causal)


def _problem(bench: Bench, length: int, causal: bool) -> Problem:
    return posed(bench.rng("memory", length), (1, 1, length, _width(bench)), _TILE, causal)


def _width(bench: Bench) -> int:
    return bench.sizes("width").between(*_WIDTHS)


def _lengths(bench: Bench) -> list[int]:
    """The challenge's own comes last."""
    sizes = bench.sizes("lengths")
    return [*(_TILE * sizes.between(*counts) for counts in _COUNTS), _LENGTH]


def _trace(attention: Attention, problem: Problem) -> _Traced:
    run = attention.run(problem, memory=True)
    returned = attention.returned(run, memory=True)
    attention.read(run, returned)
    forward, held = (_number(run.returned, key) for key in ("peak_bytes", "held_bytes"))
    out, gradients = _output_bytes(problem, run.returned, 1), _output_bytes(problem, returned, 3)
    backward = held + _number(returned, "peak_bytes")
    seconds = run.returned.result.own_seconds + returned.result.own_seconds
    attention.release(run)
    attention.bench.worker.drop(returned.result.handle, *returned.given.values())
    return _Traced(problem.case.q.shape[2], forward - out, held - out, backward - out - gradients, seconds)


def _number(returned: Any, key: str) -> float:
    value = returned.result.counters.get(key, 0)
    return max(float(value), 0.0) if isinstance(value, (int, float)) else 0.0


def _output_bytes(problem: Problem, returned: Any, count: int) -> int:
    # An output in float32 costs half; what the worker says of it may only move the figure by its size.
    size = int(problem.case.q.nbytes) * count
    return size // 2 if "float32" in str(returned.result.tree)[:400] else size


def _judged(bench: Bench, attention: Attention, found: Findings, traced: list[_Traced], causal: bool) -> str:
    before, last = traced[-2:]
    growth = math.log(max(last.peak, _NOISE) / max(before.peak, _NOISE)) / math.log(
        last.length / before.length
    )
    points = tuple((float(t.length), t.peak) for t in traced)
    curve = Curve("N", "peak bytes beyond inputs and outputs", points, log_x=True, log_y=True)
    single, double = 4.0 * last.length**2, 8.0 * last.length**2
    reached = last.length == _LENGTH
    wrong = growth > MOST_GROWTH or (reached and last.peak > MOST_SHARE * single)
    where = _busiest(bench, attention, causal) if wrong else {}
    if not last.peak > 0:
        found.claim(
            "the trace could be read",
            False,
            otherwise=Verdict.WARN,
            **attention.place,
            note="Less was traced than the outputs need: tracing was stopped inside the call.",
        )
        untraced = "the submission stops the trace of allocations: its own count tells nothing"
        return _seen(bench, attention, found, causal) or untraced
    found.limit(
        f"growth exponent of the peak, N = {before.length} to {last.length}",
        growth,
        MOST_GROWTH,
        curve=curve,
        table=_table(traced),
        **where,
    )
    quantity = f"peak over one (N, N) matrix, N = {last.length}, D = {_width(bench)}, T = {_TILE}"
    if reached:
        # The challenge's own figure is 20 % of a float32 matrix; what is handed over is float64.
        past = last.peak > MOST_SHARE * double
        base = double if past else single
        found.limit(
            f"{quantity}, {'float64' if past else 'float32'}",
            last.peak / base,
            MOST_SHARE,
            otherwise=Verdict.FAIL if past else Verdict.WARN,
            note=f"{last.peak / 1e6:.2f} MB; one matrix is {single / 1e6:.1f} MB in float32, else twice that",
            **where,
        )
    else:
        found.note(
            quantity + ", float32",
            last.peak / single,
            note=f"too slow for N = {_LENGTH}: the growth alone decides",
        )
    if seen := _seen(bench, attention, found, causal):
        return seen
    kind = "something is held for every pair of rows" if growth > MOST_GROWTH else f"limit {MOST_GROWTH}"
    grows = f"grows as N^{growth:.2f} ({kind})"
    if not reached:
        return f"peak beyond inputs and outputs {grows}; too slow for its share at N = {_LENGTH}"
    share = f"{100 * last.peak / single:.3g} % of one float32 (N, N) matrix at N = {last.length}"
    return f"peak beyond inputs and outputs is {share} (limit {100 * MOST_SHARE:.0f} %) and {grows}"


def _seen(bench: Bench, attention: Attention, found: Findings, causal: bool) -> str:
    """What the kernel saw of both, as a clause; asked where the trace shows nothing wrong."""

    def call(worker: Worker, length: int) -> float:
        problem = posed(bench.rng("resident", length), (1, 1, length, _width(bench)), _TILE, causal)
        return wholly_wrong(gradients_in_strips(problem), attention(problem, worker=worker))

    if found.verdict is Verdict.FAIL:
        return ""
    files = (attention.forward.binding.file, attention.binding.file)
    seen = pairs_held(bench, found, files, call, attention.place)
    lower = lower_precision(attention) if seen.startswith(ANSWERS) else None
    return seen if lower is None else f"{seen}, whatever it holds; {lower.text}"


def _table(traced: list[_Traced]) -> tuple[tuple[str, ...], ...]:
    head = ("N", "forward's peak, bytes", "left for the backward", "that and the backward's peak")
    rows = ((f"{t.length}", f"{t.forward:.0f}", f"{t.held:.0f}", f"{t.backward:.0f}") for t in traced)
    return (head, *rows)


def _busiest(bench: Bench, attention: Attention, causal: bool) -> dict[str, Any]:
    """Where the largest array of a forward or a backward is made."""
    problem = _problem(bench, 512, causal)
    run = attention.run(problem, count=True)
    calls = (run.returned, attention.returned(run, count=True))
    sizes = [_number(call, "largest_allocation") for call in calls]
    call = calls[int(sizes[1] > sizes[0])]
    return attention.forward.located(call.result.counters.get("largest_allocation_at"))
