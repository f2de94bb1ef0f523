"""Seconds per call at the stated size, beside plain code that does the same in the same run.

Figures, never a failure: machines are shared and noisy. Submission and reference run in processes of one
kind (same confinement, one thread), turn by turn, by the trusted side's clock. Outcomes are stored, so the
date of the measurement is part of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import NotGiven, Returned
from judge_tui.checks.calling.remote import Handle, Target, Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.submission import Submission
from judge_tui.checks.timing import Size, Timing
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["throughput"]

#: Seconds that calls are repeated for, and the longest single call that is expected.
_SECONDS, _LONGEST = 1.5, 0.4
_MOST, _LEAST = 15, 3
#: An answer further off than this is not what was asked for, however fast it came.
_RIGHT = 1e-2


@check(
    "throughput",
    "seconds per call",
    establishes="How long a call at the stated size takes, as a ratio to plain code in the same run.",
    budget=20,
)
def throughput(bench: Bench, found: Findings) -> str:
    """Time the largest size that is affordable, turn by turn with the reference."""
    timing = bench.contract.timing
    if timing is None:
        raise Skipped("this task states no size at which a single call could be timed")
    try:
        return _measured(bench, found, timing)
    except Skipped:
        raise
    except (Fault, NotGiven) as fault:
        told = fault.message if isinstance(fault, Fault) else str(fault.args[0])
        raise Skipped(f"not timed: the submission {told}") from fault


def _measured(bench: Bench, found: Findings, timing: Timing) -> str:
    for role in (*timing.before, timing.role):
        if role not in bench.bindings:
            raise Skipped(f"nothing to time: no callable was found for the role '{role}'")
    place = Submission("reference", bench.submission.task, timing.plain.parent)
    with bench.fresh(place) as worker:
        size, ours, plain = _affordable(bench, timing, worker)
        _compared(timing, size, ours, plain)
        times = _alternating(bench, ours, plain)
    return _told(bench, found, timing, size, *times)


@dataclass(slots=True)
class _Calls:
    """A way to make one call, and what it gave last."""

    make: Callable[[], tuple[float, Any]]
    seconds: list[float] = field(default_factory=list)
    last: Any = None

    def __call__(self) -> float:
        seconds, self.last = self.make()
        self.seconds.append(seconds)
        return seconds


def _affordable(bench: Bench, timing: Timing, worker: Worker) -> tuple[Size, _Calls, _Calls]:
    """The largest size that no call is expected to take long at; the smallest is always called."""
    chosen: tuple[Size, _Calls, _Calls] | None = None
    for size in timing.sizes:
        if chosen is not None:
            before, ours, plain = chosen
            slower = max(min(ours.seconds), min(plain.seconds))
            if slower * size.work / before.work > _LONGEST:
                break
        inputs = size.inputs(bench.rng(size.label))
        chosen = size, _submitted(bench, timing, inputs), _plain(timing, worker, inputs)
        for calls in chosen[1:]:
            # The first call of a kind pays for imports and page faults.
            if calls() < _LONGEST:
                calls()
    if chosen is None:
        raise Skipped("this task states no size at which a single call could be timed")
    return chosen


def _submitted(bench: Bench, timing: Timing, inputs: Mapping[str, Any]) -> _Calls:
    """Calls of the submission's role; arrays are handed over before the clock starts where they can be."""
    given = dict(inputs)
    for name in timing.before:
        returned = bench.call(name, given)
        for item in bench.contract.by_name[name].returns:
            if (item.kind in ("handle", "self") or item.name not in given) and returned.has(item.name):
                given[item.name] = returned.handle(item.name)
    binding = bench.binding(timing.role)
    if _plainly_given(binding):
        arrays = {k: v for k, v in given.items() if isinstance(v, np.ndarray) and binding.takes(k)}
        given.update({name: bench.worker.put(array) for name, array in arrays.items()})

    def make() -> tuple[float, Returned]:
        returned = bench.call(timing.role, given)
        return returned.result.seconds, returned

    return _Calls(make)


def _plainly_given(binding: Binding) -> bool:
    """Whether arrays go to the callable as they are: not as lists, packed, or in another layout."""
    arguments = (*binding.args, *(binding.init or ()))
    return not binding.layout and all(not a.form and not getattr(a, "parts", ()) for a in arguments)


def _plain(timing: Timing, worker: Worker, inputs: Mapping[str, Any]) -> _Calls:
    file = timing.plain.name
    worker.load(file)
    given: list[Any] = [_kept(worker, inputs[name]) for name in timing.takes]
    if timing.prepared:
        arguments = [inputs[name] for name in timing.prepared]
        given.append(worker.call(Target(file, "prepare"), arguments).handle)

    def make() -> tuple[float, tuple[Worker, Handle]]:
        result = worker.call(Target(file, "call"), given)
        return result.seconds, (worker, result.handle)

    return _Calls(make)


def _kept(worker: Worker, value: Any) -> Any:
    return worker.put(value) if isinstance(value, np.ndarray) else value


def _compared(timing: Timing, size: Size, ours: _Calls, plain: _Calls) -> None:
    """How long a wrong answer takes is of no interest.

    Raises:
        Skipped: The answer is not the reference's.
    """
    if not timing.answer:
        return
    worker, handle = plain.last
    wanted = worker.fetch(handle, size.shape)
    error = relative_error(ours.last.array(timing.answer, size.shape), wanted)
    if not error <= _RIGHT:
        raise Skipped(f"not timed: its {timing.answer} is {error:.2g} off the reference's")


def _alternating(bench: Bench, ours: _Calls, plain: _Calls) -> tuple[list[float], list[float]]:
    """Both in turn, so that both meet the same noise."""
    ours.seconds, plain.seconds = ours.seconds[1:] or ours.seconds, plain.seconds[1:] or plain.seconds
    until = time.monotonic() + min(_SECONDS, bench.left / 2)
    while len(ours.seconds) < _MOST:
        if time.monotonic() > until and (len(ours.seconds) >= _LEAST or min(ours.seconds) > _LONGEST):
            break
        ours()
        plain()
    return ours.seconds, plain.seconds


def _told(
    bench: Bench, found: Findings, timing: Timing, size: Size, ours: list[float], plain: list[float]
) -> str:
    mine, theirs = statistics.median(ours), statistics.median(plain)
    ratio = mine / theirs
    binding = bench.binding(timing.role)
    where: dict[str, Any] = {"file": binding.file, "line": binding.line or None}
    today = datetime.now(UTC)
    largest = size is timing.sizes[-1]
    found.note(f"seconds per call of {timing.role}, median of {len(ours)}", mine, unit="s", **where)
    found.note(f"seconds per call of the reference, median of {len(plain)}", theirs, unit="s")
    found.note("fastest call of each", f"{min(ours):.3g} s and {min(plain):.3g} s")
    found.note("ratio to the reference", ratio, note=f"{size.label}; {bench.backend}, one thread")
    if not largest:
        found.note("size", size.label, note=f"too slow for {timing.sizes[-1].label}")
    found.note("measured on", today.strftime("%Y-%m-%d %H:%M UTC"), note="A stored figure keeps its date.")
    found.conclude(Verdict.PASS)
    small = "" if largest else ", too slow for more"
    return (
        f"{_time(mine)} a call, {ratio:.2g} × plain code's {_time(theirs)} "
        f"({size.label}{small}; {today:%Y-%m-%d})"
    )


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
