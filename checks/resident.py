"""Peak resident memory of a submission's calls, as the kernel counts it.

A trace of allocations runs inside the process and sees what goes through Python: a map, C's own
allocator or a doctored trace escape it. Pages that are touched do not. The kernel's figure is coarse (it
includes what allocators keep), so that it only tells of what is far larger than what was traced.

Source: proc(5), ``VmHWM`` in ``/proc/<pid>/status`` and ``/proc/<pid>/clear_refs``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings

__all__ = ["escaped"]

#: Share of one float32 (N, N) matrix that may be resident beyond what was traced.
_MOST_UNSEEN = 0.75
#: Shorter sequences have matrices that drown in what allocators keep; this one warms a process up.
_LEAST, _WARM = 2048, 256
#: Written to ``clear_refs`` it sets the peak back to what is resident now.
_RESET = "5"


#: Calls of a submission in a worker at a length.
Calls = Callable[[Worker, int], None]
Place = Mapping[str, Any]


def escaped(
    bench: Bench,
    found: Findings,
    files: Sequence[str],
    call: Calls,
    length: int,
    known: float,
    seconds: float,
    place: Place,
) -> str:
    """Hold what the kernel saw of calls against what was traced of them.

    Args:
        bench: Where they run, in processes of their own; what seems too much is measured again.
        found: Is told; nothing where N is too small or time too short, on a GPU, or where the kernel does not
            tell.
        files: The submission's files that are loaded.
        call: Makes the calls.
        length: N.
        known: Bytes that they may hold: what was traced, inputs and outputs.
        seconds: What the calls took while they were traced.
        place: ``file`` and ``line`` of what is called.

    Returns:
        A clause where an (N, N) array escaped the trace; else empty.
    """
    if 4 * seconds > bench.left:
        return ""
    share = _unseen_share(bench, files, call, length, known)
    if share is None:
        return ""
    fine = share <= _MOST_UNSEEN
    found.limit(
        f"resident peak beyond what was traced, over one float32 (N, N) matrix, N = {length}",
        share,
        _MOST_UNSEEN,
        note="By the kernel's count; the trace runs in the submission's own process.",
        **({} if fine else place),
    )
    if fine:
        return ""
    return (
        f"{share:.1f} float32 (N, N) matrices, N = {length}, are held where Python's trace does not see them"
    )


def _unseen_share(bench: Bench, files: Sequence[str], call: Calls, length: int, known: float) -> float | None:
    if bench.place.gpu or length < _LEAST:
        return None
    share = float("inf")
    for _again in range(2):
        peak = _peak(bench, files, call, length)
        if peak is None:
            return None
        share = min((peak - known) / (4.0 * length * length), share)
        if share <= _MOST_UNSEEN:
            break
    return share


def _peak(bench: Bench, files: Sequence[str], call: Calls, length: int) -> int | None:
    with bench.fresh() as worker:
        for file in dict.fromkeys(files):
            worker.load(file)
        call(worker, _WARM)
        pid = worker.jail.inner_pid
        with contextlib.suppress(OSError), open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as reset:
            reset.write(_RESET)
        resident, before = _bytes(pid, "VmRSS"), _bytes(pid, "VmHWM")
        call(worker, length)
        after = _bytes(pid, "VmHWM")
    if resident is None or before is None or after is None:
        return None
    # A peak that could not be set back, and was not reached again, bounds nothing from below.
    return after - resident if after > before else 0


def _bytes(pid: int, field: str) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            line = next((line for line in file if line.startswith(f"{field}:")), "")
        return int(line.split()[1]) * 1024
    return None
