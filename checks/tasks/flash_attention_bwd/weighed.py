"""What a forward keeps for its backward, held from both sides: numbers, bytes, and what the kernel sees."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.resident import kept
from judge_tui.checks.tasks.backwards.weighed import MOST_BYTES, MOST_UNSEEN, PER_FLOAT_OBJECT
from judge_tui.checks.tasks.flash_attention_bwd.cached import Entry
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention, Run
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["least_bytes", "weighed"]

_MOST_GROWTH = 1.5
_NOTE = "By the kernel's count, whatever holds them."
_LENGTHS, _LENGTHS_OF_OBJECTS, _WIDTH, _TILE = (256, 512), (64, 128), 32, 64


def least_bytes(problem: Problem) -> int:
    """Bytes of O, L, Q, K and V."""
    case = problem.case
    return int(4 * case.q.nbytes + case.q.itemsize * math.prod(case.q.shape[:3]))


def weighed(
    bench: Bench, attention: Attention, found: Findings, entries: Sequence[Entry], problem: Problem
) -> str:
    """Hold what is kept against the least and twice that, wherever it lies, and its growth by the kernel.

    Args:
        bench: The submission.
        attention: What is called.
        found: Is told.
        entries: What is handed on.
        problem: What the forward was given.

    Returns:
        A clause where something is wrong; else empty.
    """
    where = attention.forward.place
    needed = 0 if any(attention.binding.takes(name) for name in "qkv") else 3 * problem.case.q.size
    numbers = sum(math.prod(each.shape) for each in entries if each.sized and each.twin is None)
    if numbers < needed:
        found.claim(
            "what is handed on leads to as many numbers as Q, K and V have", False, measured=numbers,
            limit=needed, otherwise=Verdict.WARN, note="What the backward needs is kept elsewhere.", **where,
        )  # fmt: skip
        return (
            f"what is handed on leads to {numbers} numbers where Q, K and V have {needed}: "
            "the rest is kept elsewhere"
        )
    held = sum(each.nbytes for each in entries if each.twin is None and not each.alias)
    own = held / least_bytes(problem)
    if own > MOST_BYTES:
        found.limit(
            "bytes of the entries over those of O, L, Q, K, V", own, MOST_BYTES,
            otherwise=Verdict.WARN, **where,
        )  # fmt: skip
    seen = _seen(
        bench, attention, found, own, not any(each.kind == "array" and each.sized for each in entries)
    )
    return seen or (f"its entries take {own:.2f} × the bytes of O, L, Q, K, V" if own > MOST_BYTES else "")


def _seen(bench: Bench, attention: Attention, found: Findings, own: float, objects: bool) -> str:
    lengths = _LENGTHS_OF_OBJECTS if objects else _LENGTHS
    quantity = (
        f"resident bytes that a forward leaves beyond Q, K, V and O, N = {lengths[1]}, over O, L, Q, K, V"
    )
    try:
        told = [] if bench.place.gpu else [_left(bench, attention, length) for length in lengths]
    except Fault as fault:
        if bench.left <= 0:
            raise
        found.claim(
            quantity, False, measured=fault.message, otherwise=Verdict.WARN, **attention.forward.place
        )
        return (
            f"what a forward leaves in memory cannot be told: where all memory is counted it {fault.message}"
        )
    left = [each for each in told if each is not None]
    if len(left) < len(lengths):
        found.note(quantity, "not told")
        return ""
    growth = math.log(max(left[1], 1.0) / max(left[0], 1.0)) / math.log(lengths[1] / lengths[0])
    linear = found.limit(
        f"growth exponent of the resident bytes of a forward, N = {lengths[0]} to {lengths[1]}", growth,
        _MOST_GROWTH, note=_NOTE, **({} if growth <= _MOST_GROWTH else attention.forward.place),
    )  # fmt: skip
    least = least_bytes(_problem(bench, attention, lengths[1], 0))
    beyond = left[1] / (PER_FLOAT_OBJECT if objects else 1) - 4 * 8 * lengths[1] * _WIDTH
    ratio = max(beyond, 0.0) / least
    fine = found.limit(
        quantity, ratio, MOST_BYTES, otherwise=Verdict.WARN, note=_NOTE,
        **({} if ratio <= MOST_BYTES else attention.forward.place),
    )  # fmt: skip
    if not linear:
        return f"what a forward leaves in memory grows as N^{growth:.2f}"
    if not fine:
        return f"every forward leaves {ratio:.1f} × the bytes of O, L, Q, K, V in memory"
    if found.limit(
        "of these, beyond what is handed on", ratio - own, MOST_UNSEEN, otherwise=Verdict.WARN, note=_NOTE,
        **({} if ratio - own <= MOST_UNSEEN else attention.forward.place),
    ):  # fmt: skip
        return ""
    return (
        f"every forward leaves {ratio:.1f} × the bytes of O, L, Q, K, V in memory, "
        f"of which what is handed on leads to {own:.1f}"
    )


def _left(bench: Bench, attention: Attention, length: int) -> float | None:
    def call(worker: Worker, number: int) -> Run:
        return attention.run(_problem(bench, attention, length, number), worker=worker)

    return kept(bench, (attention.forward.binding.file, attention.binding.file), call)


def _problem(bench: Bench, attention: Attention, length: int, number: int) -> Problem:
    shape = (1, 1, length, _WIDTH)
    # a mask that is handed over would be weighed as if the forward kept it
    causal = attention.causal[0] and not attention.forward.mask
    return posed(bench.rng("weighed", length, number), shape, _TILE, causal)
