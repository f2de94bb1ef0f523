"""What a forward keeps for the backward, held from both sides: numbers, bytes, and what the kernel sees."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.resident import kept
from judge_tui.checks.tasks.backwards.entries import MOST, Entry
from judge_tui.checks.tasks.backwards.meaning import minimal_bytes
from judge_tui.checks.tasks.backwards.passes import Pass, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.verdict import Verdict

__all__ = ["MOST_BYTES", "MOST_UNSEEN", "PER_FLOAT_OBJECT", "weighed"]

#: Over the least bytes: x beside x̂ is still told by its entries.
MOST_BYTES = 2.2
#: Over the least bytes as well: what stays in memory and no entry accounts for.
MOST_UNSEEN = 0.5
#: A float of Python's in a list takes 32 bytes and more where one of an array takes 8.
PER_FLOAT_OBJECT = 5
_SHAPE = (4, 32, 256)


def weighed(bench: Bench, found: Findings, entries: Sequence[Entry], batch: Batch) -> str:
    """Warn of a cache that holds less than nature allows, or over twice the least, wherever it lies.

    Args:
        bench: The submission.
        found: Is told.
        entries: What the cache leads to.
        batch: What the forward was given.

    Returns:
        A clause where something is wrong; else empty.
    """
    place = bench.binding("forward")
    where: dict[str, Any] = {"file": place.file, "line": place.line or None}
    numbers = sum(prod(entry.shape) for entry in entries if entry.sized and entry.twin is None)
    few = len(entries) < MOST and numbers < prod(batch.shape)
    if few:
        found.claim(
            "the cache leads to as many numbers as dx has", False, measured=numbers, limit=prod(batch.shape),
            otherwise=Verdict.WARN, note="What the backward needs is kept elsewhere.", **where,
        )  # fmt: skip
        needed = prod(batch.shape)
        return f"the cache leads to {numbers} numbers where dx has {needed}: the rest is kept elsewhere"
    held = sum(entry.nbytes for entry in entries if entry.twin is None and not entry.alias)
    own = held / minimal_bytes(batch, False)
    if own > MOST_BYTES:
        found.limit("bytes of the entries over the least", own, MOST_BYTES, otherwise=Verdict.WARN, **where)
    objects = not any(entry.kind == "array" and entry.sized for entry in entries)
    seen = _seen(bench, found, own, objects, where)
    return seen or (f"its entries take {own:.2f} × the least bytes" if own > MOST_BYTES else "")


def _seen(bench: Bench, found: Findings, own: float, objects: bool, where: dict[str, Any]) -> str:
    """What every forward leaves resident beyond x and y, over the least."""
    quantity = f"resident bytes that a forward at {_SHAPE} leaves beyond x and y, over the least"
    files = [bench.binding(role).file for role in ("forward", "backward")]
    eps = eps_of(bench, 1e-3)
    batch = draw(bench.rng("weighed"), _SHAPE, eps)

    def call(worker: Worker, number: int) -> Pass:
        return forward(bench, draw(bench.rng("weighed", number), _SHAPE, eps), worker=worker)

    try:
        each = None if bench.place.gpu else kept(bench, files, call)
    except Fault as fault:
        if bench.left <= 0:
            raise
        found.claim(quantity, False, measured=fault.message, otherwise=Verdict.WARN, **where)
        return (
            f"what a forward leaves in memory cannot be told: where all memory is counted it {fault.message}"
        )
    if each is None:
        found.note(quantity, "not told")
        return ""
    beyond = each / (PER_FLOAT_OBJECT if objects else 1) - 2 * batch.x.nbytes
    ratio = max(beyond, 0.0) / minimal_bytes(batch, False)
    fine = found.limit(
        quantity, ratio, MOST_BYTES, otherwise=Verdict.WARN,
        note="By the kernel's count, whatever holds them.",
        **({} if ratio <= MOST_BYTES else where),
    )  # fmt: skip
    if not fine:
        return f"every forward leaves {ratio:.1f} × the least bytes in memory"
    if found.limit(
        "of these, beyond what the cache leads to", ratio - own, MOST_UNSEEN, otherwise=Verdict.WARN,
        note="By the kernel's count.", **({} if ratio - own <= MOST_UNSEEN else where),
    ):  # fmt: skip
        return ""
    return (
        f"every forward leaves {ratio:.1f} × the least bytes in memory, of which the cache leads to {own:.1f}"
    )
