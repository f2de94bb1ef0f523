"""How many problems of KernelBench can be imported, and are judged right by their own reference.

Run over a copy of what was published: ``make kernelbench DIR=…/KernelBench/level1``. It needs PyTorch in the
environment that it runs in; without it every problem is one whose own package is missing. With ``--answers``
each problem's own model is handed in as well, under the name that answers have.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.task import made
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Skipped
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.trying.challenge import tried
from judge_tui.checks.verdict import Verdict
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


def rows(folder: Path, *, answers: bool) -> Iterator[Row]:
    """Import each problem of a folder, and try its reference.

    Args:
        folder: The folder.
        answers: Whether its model has to pass as an answer too.
    """
    started = time.perf_counter()
    for each in kernelbench(folder):
        yield _row(each, started, answers=answers)
        started = time.perf_counter()


def _row(each: Imported | JudgeError, started: float, *, answers: bool) -> Row:
    if isinstance(each, JudgeError):
        return Row(Path(each.file or "").name, False, False, each.message, time.perf_counter() - started)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "problem")
        write_new(folder, each.files)
        try:
            first = next(tried(Challenge("problem", str(folder))))
            passes, told = first.fine, first.told
            if passes and answers:
                passes, told = _answered(Challenge("problem", str(folder)), each, Path(place, "answer"))
        except JudgeError as error:
            passes, told = False, str(error)
        except Skipped as fault:
            passes, told = False, fault.message
    return Row(each.called, True, passes, " ".join(told.split()), time.perf_counter() - started)


def _answered(challenge: Challenge, each: Imported, place: Path) -> tuple[bool, str]:
    """Whether the problem's own model passes as an answer, and what is said of it."""
    (name,) = (name for name in each.files if name.endswith(".py") and name != "challenge.py")
    text = re.sub(r"\bModel\b", "ModelNew", each.files[name].decode())
    write_new(place, {"answer.py": text.encode()})
    found = judge(made(challenge), Submission("m", challenge.id, place), seed=1, checks=["accuracy"])[
        "accuracy"
    ]
    return found.verdict is Verdict.PASS, f"as an answer: {found.summary}"


def main() -> int:
    """Print a row for each problem, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of problems, such as KernelBench/level1")
    parser.add_argument("--answers", action="store_true", help="hand each problem's own model in, too")
    told = parser.parse_args()
    count, imported, passing = 0, 0, 0
    print("| problem | imported | reference passes | | s |\n|---|---|---|---|---|", flush=True)
    for row in rows(told.folder, answers=told.answers):
        count, imported, passing = count + 1, imported + row.imported, passing + row.passes
        words = ["yes" if fine else "NO" for fine in (row.imported, row.passes)]
        print(f"| {row.problem} | {' | '.join(words)} | {row.told} | {row.seconds:.1f} |", flush=True)
    print(f"\n{count} problems: {imported} imported, {passing} judged right by their own reference.")
    return 0 if passing == count else 1


if __name__ == "__main__":
    raise SystemExit(main())
