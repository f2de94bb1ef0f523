"""How many problems of KernelBench can be imported, and are judged right by their own reference.

Run over a copy of what was published: ``make kernelbench DIR=…/KernelBench/level1``. It needs PyTorch in the
environment that it runs in; without it every problem is one whose own package is missing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Skipped
from judge_tui.checks.trying.challenge import tried
from judge_tui.cli.importing.imported import Imported
from judge_tui.cli.importing.kernelbench import kernelbench
from judge_tui.cli.new_folder import write_new


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one problem.

    Attributes:
        problem: Its file's name, or what was said in its place.
        imported: Whether it became a challenge.
        passes: Whether its reference passes as a submission.
        told: The figures, or why not.
        seconds: What both took.
    """

    problem: str
    imported: bool
    passes: bool
    told: str
    seconds: float


def rows(folder: Path) -> Iterator[Row]:
    """Import each problem of a folder, and try its reference.

    Args:
        folder: The folder.
    """
    started = time.perf_counter()
    for each in kernelbench(folder):
        made = _row(each, started)
        yield made
        started = time.perf_counter()


def _row(each: Imported | JudgeError, started: float) -> Row:
    if isinstance(each, JudgeError):
        return Row(Path(each.file or "").name, False, False, each.message, time.perf_counter() - started)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "problem")
        write_new(folder, each.files)
        try:
            first = next(tried(Challenge("problem", str(folder))))
            passes, told = first.fine, first.told
        except JudgeError as error:
            passes, told = False, str(error)
        except Skipped as fault:
            passes, told = False, fault.message
    return Row(each.called, True, passes, " ".join(told.split()), time.perf_counter() - started)


def main() -> int:
    """Print a row for each problem, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of problems, such as KernelBench/level1")
    folder: Path = parser.parse_args().folder
    count, imported, passing = 0, 0, 0
    print("| problem | imported | reference passes | | s |\n|---|---|---|---|---|", flush=True)
    for row in rows(folder):
        count, imported, passing = count + 1, imported + row.imported, passing + row.passes
        words = ["yes" if fine else "NO" for fine in (row.imported, row.passes)]
        print(f"| {row.problem} | {' | '.join(words)} | {row.told} | {row.seconds:.1f} |", flush=True)
    print(f"\n{count} problems: {imported} imported, {passing} judged right by their own reference.")
    return 0 if passing == count else 1


if __name__ == "__main__":
    raise SystemExit(main())
