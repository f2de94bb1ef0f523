"""What tokens add to a process's resident memory, beside what the cache object leads to.

Bytes are counted in the submission's own process, along the cache object. What is kept elsewhere, or kept
twice, is seen by the kernel all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.resident import resident_now
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import entries, total
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.verdict import Verdict

__all__ = ["LEAST", "judge_resident"]

#: Share of the least bytes below which keys and values cannot all be where the cache leads.
LEAST = 0.97
#: A token of a sequence takes 16 KiB or more: a block of memory of its own, that goes back when it is given
#: back.
_SIZES, _HEADS, _WIDTHS = Sizes(batch=2, max_len=32, layers=1), (4, 5), (1024, 1100)
_TOKENS = 32
#: Over what the cache leads to, and what a process's allocator may keep beside.
_MOST, _SLACK = 1.4, 400_000
#: Caches that are filled one after another at most, and one more.
_FILLED = 6
#: Of what keys and values take: less is not resident.
_FEWEST = 0.8
#: A float of Python's in a list takes 32 bytes and more where one of an array takes 8.
_PER_FLOAT_OBJECT = 5
_NOTE = "By the kernel's count, whatever holds them."


@dataclass(frozen=True, slots=True)
class _Seen:
    """Bytes of a cache of ``_TOKENS`` tokens per sequence.

    Attributes:
        resident: By the kernel.
        led_to: That the cache object leads to.
        objects: Whether numbers are Python's own objects.
    """

    resident: int
    led_to: int
    objects: bool


def judge_resident(subject: Subject, found: Findings) -> list[str]:
    """Hold what is resident against what the cache leads to, and against the least.

    Returns:
        What is wrong, in a sentence; empty where nothing is.
    """
    quantity = f"resident bytes of {_TOKENS} tokens over those that the cache leads to"
    if subject.bench.place.gpu:
        return []
    try:
        seen = _seen(subject)
    except Fault as fault:
        if subject.bench.left <= 0:
            raise
        if isinstance(fault, Skipped) or not _goes(subject):
            found.note(quantity, "not told", note=fault.message)
            return []
        where = subject.where("create", "append", "step")
        found.claim(quantity, False, measured=fault.message, otherwise=Verdict.WARN, note=_NOTE, **where)
        return [f"where all memory is counted it {fault.message}"]
    if seen is None:
        return []
    where = subject.where("create", "append", "step")
    sizes = _sizes(subject)
    width = 2 * sizes.heads * sizes.head_dim * np.dtype(sizes.dtype).itemsize
    least = width * _TOKENS * sizes.batch
    known = max(seen.led_to, least) * (_PER_FLOAT_OBJECT if seen.objects else 1)
    ratio = max(seen.resident - _SLACK, 0) / known
    told = f"{seen.resident} B resident, {seen.led_to} B in the cache, {least} B of keys and values"
    if not found.limit(
        quantity,
        ratio,
        _MOST,
        otherwise=Verdict.WARN,
        note=f"{_NOTE} {told}",
        **({} if ratio <= _MOST else where),
    ):
        times = seen.resident / known
        return [f"{times:.1f} × the bytes that the cache leads to are resident: more is kept elsewhere"]
    share = seen.led_to / least
    if share < LEAST:
        found.claim(
            "the cache leads to as many bytes as keys and values take", False, measured=round(share, 3),
            limit=LEAST, otherwise=Verdict.WARN, note=told, **where,
        )  # fmt: skip
        return [
            f"the cache leads to {share:.2g} × the bytes that keys and values take: they are kept elsewhere"
        ]
    share = (seen.resident + _SLACK) / least
    if not found.claim(
        "keys and values are resident", share >= _FEWEST, measured=round(share, 3), limit=_FEWEST,
        otherwise=Verdict.WARN, note=f"{_NOTE} {told}", **({} if share >= _FEWEST else where),
    ):  # fmt: skip
        return [f"{share:.2f} × the bytes that keys and values take are resident: they are kept elsewhere"]
    return []


def _goes(subject: Subject) -> bool:
    """Whether a cache of these sizes can be filled where memory need not count."""
    try:
        with subject.bench.fresh() as worker:
            for file in subject.bench.bindings.loaded:
                worker.load(file)
            _filled(subject, worker, 1)
    except Fault:
        return False
    return True


def _seen(subject: Subject) -> _Seen | None:
    bench = subject.bench
    with bench.fresh(counted=True) as worker:
        for file in bench.bindings.loaded:
            worker.load(file)
        first = _filled(subject, worker, 1)
        worker.drop(*_roots(first), trim=True)
        told = [resident_now(worker)]
        for number in range(2, _FILLED):
            cached = _filled(subject, worker, number)
            told.append(resident_now(worker))
            objects = not any(entry.handles for entry in entries(cached))
            most = _MOST * total(cached) * (_PER_FLOAT_OBJECT if objects else 1)
            # holes that an allocator leaves once are filled later; what is kept elsewhere grows every time
            if number > 2 and _least(told) - _SLACK <= most:
                break
        led_to = total(cached)
    known = [each for each in told if each is not None]
    if len(known) < len(told):
        return None
    return _Seen(_least(known), led_to, objects)


def _sizes(subject: Subject) -> Sizes:
    """Heads, and their width, which is even, are drawn once."""
    drawn_sizes = subject.bench.sizes("resident")
    heads, width = drawn_sizes.one_of(_HEADS), drawn_sizes.multiple(2, *_WIDTHS)
    return subject.fitted(replace(_SIZES, heads=heads, head_dim=width))


def _least(told: Sequence[int | None]) -> int:
    """The least that one more cache took, of what was resident after each; 0 where that was not told."""
    steps = [late - early for early, late in pairwise(told) if early is not None and late is not None]
    return min(steps, default=0)


def _roots(cached: Cached) -> list[Handle]:
    found: list[Handle] = []
    for state in cached.states:
        found += [state] if isinstance(state, Handle) else list(state or ())
    return found


def _filled(subject: Subject, worker: Worker, number: int) -> Cached:
    """A full cache in a worker that keeps nothing else of the calls that filled it."""
    first = worker.slot().id
    cached = subject.cached(_sizes(subject), worker)
    cached.feed(*drawn(subject.bench.rng("resident", number), cached.sizes, _TOKENS), whole=False)
    names = [name for name in cached.names.values() if isinstance(name, Handle)]
    kept = {handle.id for handle in (*_roots(cached), *names)}
    # every argument and result of these calls has a number between the two
    worker.drop(*(Handle(other) for other in range(first, worker.slot().id) if other not in kept), trim=True)
    return cached
