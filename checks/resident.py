"""What calls of a submission hold in memory, as the kernel counts it from before the submission was loaded.

A trace of allocations runs beside the submission, which can stop it, doctor it, or allocate where it does
not look. Here the calls run in a process in which all memory counts as resident (``Limits.counted``), and
the kernel is asked from outside for its peak. Nothing that a process does lowers that, so that the figure
decides; a trace explains.

Source: proc(5), ``VmHWM`` and ``VmRSS`` in ``/proc/<pid>/status``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.verdict import Curve, Verdict

__all__ = ["ANSWERS", "Calls", "Peak", "kept", "pairs_held", "resident", "resident_now"]

#: Lengths at which the kernel is asked, between so many units; the first shows what loading and a first
#: call take.
_UNIT, _LENGTHS = 128, ((2, 2), (7, 9), (15, 17), (30, 34))
#: Bytes that loading and a first short call may take before it is said. NumPy's own buffers are 1.2 MB of it.
_AT_LEAST = 8 << 20
#: Bytes for every pair of rows: the smallest array of N × N has one.
_MOST_PER_PAIR = 0.5
#: The quadratic part that is within the noise of three processes.
_NOISE = 4 << 20
#: Share of one float32 (N, N) matrix that may be resident in all.
_MOST_SHARE = 0.75
#: An answer further off than this is none that the memory of says anything.
_RIGHT = 1e-3
#: Share of the time left that calls may be expected to take, and seconds where three lengths are known.
_AFFORDED, _LONG = 0.4, 5.0
#: Calls that warm a process up, and those whose results are kept.
_WARM, _KEPT = 2, 4
_NOTE = "By the kernel's count, from before the submission was loaded."
#: How a clause begins that says that an answer is wrong.
ANSWERS = "what it computes"

#: Calls of a submission in a worker at a length; gives the relative error of what they answered.
Calls = Callable[[Worker, int], float]
Place = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that was resident at a length.

    Attributes:
        length: N.
        beyond: Bytes beyond what was resident before the submission was loaded.
        error: Relative error of the answer.
        seconds: Own time of the calls.
    """

    length: int
    beyond: int
    error: float
    seconds: float


def pairs_held(bench: Bench, found: Findings, files: Sequence[str], call: Calls, place: Place) -> str:
    """Decide by the kernel's count whether calls hold something for every pair of rows.

    Args:
        bench: Where they run, in processes of their own.
        found: Is told.
        files: The submission's files that are loaded.
        call: Makes the calls.
        place: ``file`` and ``line`` of what is called.

    Returns:
        A clause where something is wrong, or cannot be told; else empty.
    """
    if bench.place.gpu:
        found.note("resident memory", "not asked", note="On a GPU memory is counted in the worker's process.")
        return ""
    peaks, why = _climbed(bench, files, call)
    counted = bool(peaks) or bench.left <= 0
    if not counted:
        # what needs memory that does not count is held by what of it does
        peaks, _why = _climbed(bench, files, call, counted=False)
    if wrong := next((peak for peak in peaks if not peak.error <= _RIGHT), None):
        found.limit(f"answer at N = {wrong.length}, relative error per head", wrong.error, _RIGHT, **place)
        return f"{ANSWERS} at N = {wrong.length} is {wrong.error:.2g} off"
    if len(peaks) < 3:
        found.claim(
            "the kernel's count of its memory",
            False,
            measured=why,
            otherwise=Verdict.WARN,
            note=_NOTE,
            **place,
        )
        return f"what it holds is known by its own trace alone: {why}"
    if told := _decided(found, peaks, place):
        return told
    if not counted:
        found.claim(
            "all of its memory counts", False, measured=why, otherwise=Verdict.WARN, note=_NOTE, **place
        )
        return f"what it holds cannot be told: {why}"
    return ""


def _decided(found: Findings, peaks: Sequence[Peak], place: Place) -> str:
    last = peaks[-1]
    matrix = 4.0 * last.length**2
    points = tuple((float(peak.length), float(peak.beyond)) for peak in peaks)
    curve = Curve("N", "resident bytes beyond those before loading", points, log_x=True, log_y=True)
    of_pairs = max(_quadratic(peaks), 0.0)
    per_pair, most = of_pairs / last.length**2, max(_MOST_PER_PAIR, _NOISE / last.length**2)
    fine = found.limit(
        f"resident bytes for every pair of rows, N = {last.length}", per_pair, most, unit="B", curve=curve,
        note=_NOTE, **({} if per_pair <= most else place),
    )  # fmt: skip
    share = last.beyond / matrix
    whole = found.limit(
        f"resident peak over one float32 (N, N) matrix, N = {last.length}", share, _MOST_SHARE, note=_NOTE,
        **({} if share <= _MOST_SHARE else place),
    )  # fmt: skip
    first = peaks[0].beyond
    small = found.limit(
        f"resident after loading and N = {peaks[0].length}", first / 1e6, _AT_LEAST / 1e6, unit="MB",
        otherwise=Verdict.WARN, note=_NOTE, **({} if first <= _AT_LEAST else place),
    )  # fmt: skip
    if not fine:
        return f"{per_pair:.2g} bytes are resident for every pair of rows at N = {last.length}"
    if not whole:
        return f"{share:.1f} float32 (N, N) matrices are resident at N = {last.length}"
    return "" if small else f"{first / 1e6:.0f} MB are resident before it is asked for anything long"


def _quadratic(peaks: Sequence[Peak]) -> float:
    """Bytes at the longest that grow with the square of N: the rest is constant or linear."""
    one, two, three = (peaks[0], peaks[-2], peaks[-1])
    early = (two.beyond - one.beyond) / (two.length - one.length)
    late = (three.beyond - one.beyond) / (three.length - one.length)
    return (late - early) / (three.length - two.length) * three.length**2


def _climbed(
    bench: Bench, files: Sequence[str], call: Calls, *, counted: bool = True
) -> tuple[list[Peak], str]:
    """Peaks at growing lengths as long as there is time, and why there are no more."""
    peaks: list[Peak] = []
    sizes = bench.sizes("resident lengths")
    for length in [sizes.multiple(_UNIT, least * _UNIT, most * _UNIT) for least, most in _LENGTHS]:
        expected = peaks[-1].seconds * (length / peaks[-1].length) ** 2 if peaks else 0.0
        if len(peaks) > 2 and expected > _LONG:
            break
        if expected > _AFFORDED * bench.left:
            return peaks, f"a call at N = {length} would take {expected:.0f} s"
        bench.progress(f"resident at N = {length}", None)
        try:
            peak = resident(bench, files, call, length, counted=counted)
        except Fault as fault:
            if bench.left <= 0:
                raise
            return peaks, f"where all memory is counted it {fault.message}"
        if peak is None:
            return peaks, "the kernel does not tell"
        peaks.append(peak)
    return peaks, ""


def resident(
    bench: Bench, files: Sequence[str], call: Calls, length: int, *, counted: bool = True
) -> Peak | None:
    """The peak of calls in a process of their own; ``None`` where the kernel does not tell.

    Args:
        bench: Where.
        files: What is loaded.
        call: Makes the calls.
        length: At which length.
        counted: Whether memory that would not count is refused.

    Raises:
        Fault: The calls went wrong.
    """
    with bench.fresh(counted=counted) as worker:
        pid = worker.jail.inner_pid
        before = _bytes(pid, "VmRSS")
        spent = bench.left
        for file in dict.fromkeys(files):
            worker.load(file)
        error = call(worker, length)
        after = _bytes(pid, "VmHWM")
        spent -= bench.left
    if before is None or after is None:
        return None
    return Peak(length, after - before, error, spent)


def kept(bench: Bench, files: Sequence[str], call: Callable[[Worker, int], object]) -> float | None:
    """Bytes that stay resident for every call whose results, and arguments, are kept.

    Args:
        bench: Where, in a process of its own.
        files: What is loaded.
        call: Makes the call of a number, with inputs of its own, and lets go of nothing.

    Returns:
        Bytes per call, whatever holds them; ``None`` where the kernel does not tell.

    Raises:
        Fault: The calls went wrong.
    """
    with bench.fresh(counted=True) as worker:
        for file in dict.fromkeys(files):
            worker.load(file)
        for number in range(_WARM):
            call(worker, number)
        worker.drop(trim=True)
        before = _bytes(worker.jail.inner_pid, "VmRSS")
        for number in range(_KEPT):
            call(worker, _WARM + number)
        # what only waits for the collector is not kept
        worker.drop(trim=True)
        after = _bytes(worker.jail.inner_pid, "VmRSS")
    return None if before is None or after is None else (after - before) / _KEPT


def resident_now(worker: Worker) -> int | None:
    """Bytes of a process that are resident now; ``None`` where the kernel does not tell."""
    return _bytes(worker.jail.inner_pid, "VmRSS")


def _bytes(pid: int, field: str) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            line = next((line for line in file if line.startswith(f"{field}:")), "")
        return int(line.split()[1]) * 1024
    return None
