"""Running a script of a submission in a process of its own."""

from __future__ import annotations

import time

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.generic.tested import NO_TIME, Ending, Tested, allowance, moved, of_fault

__all__ = ["run_script"]


def run_script(bench: Bench, file: str, line: int) -> Tested:
    """Run a file as a program, in a copy of the submission's folder that it may write to.

    Args:
        bench: The submission's.
        file: Path relative to the submission's folder.
        line: Where its main block is, 1-based.
    """
    title = f"{file}: main script"
    if allowance(bench) <= 0:
        return Tested(title, Ending.NOT_RUN, NO_TIME, file=file, line=line)
    started = time.perf_counter()
    try:
        with bench.fresh() as alone:
            result = moved(alone).run_script(file, budget=allowance(bench))
    except Fault as fault:
        return of_fault(title, fault, file, line)
    return Tested(title, Ending.PASSED, "", time.perf_counter() - started, result.printed, file, line)
