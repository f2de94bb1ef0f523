"""Seconds per call at the stated size, beside plain code that does the same in the same run.

Figures, never a failure: machines are shared and noisy. Submission and reference run in processes of one
kind (same confinement, one thread), turn by turn on inputs that neither has seen, by the trusted side's
clock, until the answer's bytes are here. What a busy machine has spoiled is withheld. Outcomes are stored,
so the date of the measurement is part of them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import NotGiven
from judge_tui.checks.calling.clock import Clock, Timed, least, median, noise, ratio_of, withheld
from judge_tui.checks.calling.remote import Handle, Target, Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Fault, Skipped
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
_CLOCK = (
    "With the copying of the answer, by the trusted side's clock; waiting for a processor does not count."
)


@check(
    "throughput",
    "seconds per call",
    establishes="How long a call at the stated size takes, as a ratio to plain code in the same run.",
    version=2,
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
    for name in timing.unlike:
        if bench.binding(timing.role).takes(name):
            raise Skipped(f"nothing to time: a call takes one {name}, and many at once are what is timed")
    place = Submission("reference", bench.submission.task, timing.plain.parent)
    with bench.fresh(place, packages=timing.packages) as worker:
        worker.load(timing.plain.name)
        pair = _Pair(bench, timing, worker)
        _affordable(timing, pair)
        _alternating(bench, pair)
    if reason := withheld(pair.ours, pair.plain):
        raise Skipped(f"not timed: {reason}; run it again when less else runs")
    return _told(bench, found, timing, pair)


class _Pair:
    """Calls of the submission and of the reference on the same inputs, one after the other.

    Args:
        bench: The submission's.
        timing: What is timed.
        worker: Holds the reference.

    Attributes:
        size: The size of the calls.
        ours: Times of the submission's calls at that size.
        plain: Times of the reference's.
    """

    def __init__(self, bench: Bench, timing: Timing, worker: Worker) -> None:
        self._bench, self._timing, self._worker = bench, timing, worker
        self.size = timing.sizes[0]
        self.ours: list[Timed] = []
        self.plain: list[Timed] = []
        self._turn = 0

    def at(self, size: Size) -> None:
        """Go on at a size; what was timed at another is forgotten."""
        self.size, self.ours, self.plain = size, [], []

    def turn(self) -> None:
        """One call of each on inputs that neither has seen, both answers held against each other.

        Raises:
            Skipped: The answer is not the reference's.
        """
        self._turn += 1
        inputs = self.size.inputs(self._bench.rng(self.size.label, self._turn))
        mine = self._submitted(inputs)
        theirs = self._reference(inputs)
        if mine is not None and theirs is not None:
            error = relative_error(mine, theirs)
            if not error <= _RIGHT:
                raise Skipped(f"not timed: {self._otherwise(error)}")

    def _otherwise(self, error: float) -> str:
        """Why an answer is not the reference's: it may be that of other work, which nobody could ask for."""
        timing, bench = self._timing, self._bench
        for name in timing.told:
            if not any(bench.binding(role).takes(name) for role in (*timing.before, timing.role)):
                return f"what is timed is {name}, and its call takes no parameter '{name}'"
        return f"its {timing.answer} is {error:.2g} off the reference's"

    def _submitted(self, inputs: Mapping[str, Any]) -> Any:
        """Call the submission's role; arrays are handed over before the clock starts where they can be."""
        bench, timing = self._bench, self._timing
        given, kept = dict(inputs), []
        for name in timing.before:
            returned = bench.call(name, given)
            kept += [returned.result.handle, *returned.given.values()]
            for item in bench.contract.by_name[name].returns:
                if (item.kind in ("handle", "self") or item.name not in given) and returned.has(item.name):
                    given[item.name] = returned.handle(item.name)
        binding = bench.binding(timing.role)
        if _plainly_given(binding):
            arrays = {k: v for k, v in given.items() if isinstance(v, np.ndarray) and binding.takes(k)}
            handed = {name: bench.worker.put(array) for name, array in arrays.items()}
            kept += handed.values()
            given.update(handed)
        with Clock(bench.worker) as clock:
            returned = bench.call(timing.role, given)
            clock.count()
            answer: Any = None
            if timing.answer:
                answer = returned.array(timing.answer, self.size.shape)
            else:
                _looked_at(bench.worker, returned.result.handle, timing)
            clock.count()
        self.ours.append(clock.timed)
        bench.worker.drop(*kept, returned.result.handle, *returned.given.values())
        return answer

    def _reference(self, inputs: Mapping[str, Any]) -> Any:
        worker, timing, file = self._worker, self._timing, self._timing.plain.name
        given: list[Any] = [_kept(worker, inputs[name]) for name in timing.takes]
        if timing.prepared:
            arguments = [inputs[name] for name in timing.prepared]
            given.append(worker.call(Target(file, "prepare"), arguments).handle)
        with Clock(worker) as clock:
            result = worker.call(Target(file, timing.call), given)
            clock.count()
            answer: Any = None
            if timing.answer:
                answer = worker.fetch(result.handle, self.size.shape)
            else:
                _looked_at(worker, result.handle, timing)
            clock.count()
        self.plain.append(clock.timed)
        worker.drop(result.handle, *(each for each in given if isinstance(each, Handle)))
        return answer


def _looked_at(worker: Worker, handle: Handle, timing: Timing) -> None:
    """Ask for an answer that has no name, so that none of it is put off; what it says is judged elsewhere."""
    with contextlib.suppress(BadResult):
        if timing.by_value:
            worker.carried(handle)
        else:
            worker.value(handle)


def _affordable(timing: Timing, pair: _Pair) -> None:
    """Go to the largest size that no call is expected to take long at; the smallest is always called."""
    for size in timing.sizes:
        if pair.ours:
            slower = max(least(pair.ours), least(pair.plain))
            if slower * size.work / pair.size.work > _LONGEST:
                break
        pair.at(size)
        # The first call of a kind pays for imports and page faults.
        pair.turn()
        if max(least(pair.ours), least(pair.plain)) < _LONGEST:
            pair.turn()


def _plainly_given(binding: Binding) -> bool:
    """Whether arrays go to the callable as they are: not as lists, packed, or in another layout."""
    arguments = (*binding.args, *(binding.init or ()))
    return not binding.layout and all(not a.form and not getattr(a, "parts", ()) for a in arguments)


def _kept(worker: Worker, value: Any) -> Any:
    return worker.put(value) if isinstance(value, np.ndarray) else value


def _alternating(bench: Bench, pair: _Pair) -> None:
    """Both in turn, so that both meet the same noise."""
    pair.ours[:], pair.plain[:] = pair.ours[1:] or pair.ours, pair.plain[1:] or pair.plain
    until = time.monotonic() + min(_SECONDS, bench.left / 2)
    while len(pair.ours) < _MOST:
        if time.monotonic() > until and (len(pair.ours) >= _LEAST or least(pair.ours) > _LONGEST):
            break
        pair.turn()


def _told(bench: Bench, found: Findings, timing: Timing, pair: _Pair) -> str:
    ours, plain, size = pair.ours, pair.plain, pair.size
    mine, theirs = median(ours), median(plain)
    ratio, off = ratio_of(ours, plain), noise(ours, plain)
    binding = bench.binding(timing.role)
    where: dict[str, Any] = {"file": binding.file, "line": binding.line or None}
    today = datetime.now(UTC)
    largest = size is timing.sizes[-1]
    found.note(
        f"seconds per call of {timing.role}, median of {len(ours)}", mine, unit="s", note=_CLOCK, **where
    )
    found.note(f"seconds per call of the reference, median of {len(plain)}", theirs, unit="s")
    found.note("fastest call of each", f"{least(ours):.3g} s and {least(plain):.3g} s")
    told = f"± {off:.2g}; {size.label}; {bench.backend}, one thread"
    found.note("ratio to the reference", ratio, note=told)
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
