"""Holding the checks against one-edit mutants of what they call right."""

from __future__ import annotations

import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge_tui.checks.bench import Bench
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.one_check import run_check
from judge_tui.checks.paths.counting import counting
from judge_tui.checks.repair.edit import Edit
from judge_tui.checks.repair.slips import edits
from judge_tui.checks.specimens import specimens
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task
from judge_tui.checks.verdict import Verdict
from tools.holes.replay import Recording, recorded

__all__ = ["ALIKE", "CAUGHT", "HELD", "HOLE", "MISSED_BY_FUZZ", "TASKS", "Found", "Right", "rights", "tried"]

ROOT = Path(__file__).parents[2]
#: The tasks that are answered in NumPy.
TASKS = (
    "kv", "flash_attention", "flash_attention_bwd", "backwards", "beam_search", "dflash_verify",
    "ternary_training",
)  # fmt: skip
#: Seed of the fuzz; no verdict comes from it.
_FUZZ = 700_001
#: What is a figure of time or memory: equal answers at another price are no hole that a fuzz of answers sees.
_PRICED = frozenset({"throughput", "peak_memory", "growth", "gradient_cost"})
_DOUBTS = (Verdict.WARN, Verdict.AMBIGUOUS)
_GOOD = (Verdict.PASS, Verdict.SKIP, *_DOUBTS)

#: Of what the fuzz sees no difference in, this part is judged all the same.
HELD = 0.2

CAUGHT = "caught"
ALIKE = "alike"
HOLE = "hole"
MISSED_BY_FUZZ = "caught, not seen by the fuzz"


@dataclass(frozen=True, slots=True)
class Right:
    """A submission that the checks call right.

    Attributes:
        task: Id of its task.
        name: Its name.
        path: Its file or folder.
    """

    task: str
    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one edit.

    Attributes:
        task: Id of the task.
        name: Of the right submission.
        file: The file that was edited.
        edit: What was done, in one line.
        end: :data:`CAUGHT`, :data:`ALIKE`, :data:`HOLE` or :data:`MISSED_BY_FUZZ`.
        by: The check that caught it, and with which verdict.
        difference: What the fuzz saw first.
        seconds: What it took.
    """

    task: str
    name: str
    file: str
    edit: str
    end: str
    by: str = ""
    difference: str = ""
    seconds: float = 0.0


def rights(task: str) -> list[Right]:
    """The twins and the reconstructions of a task, those with the most to edit among them first by chance."""
    twins = [
        Right(task, one.name, one.path)
        for one in specimens(ROOT / "tests/checks/tasks" / task, load_task(task))
        if not one.wrong
    ]
    published = [
        Right(task, folder.parent.name, folder) for folder in sorted(ROOT.glob(f"submissions/*/{task}"))
    ]
    return sorted([*twins, *published], key=lambda one: zlib.crc32(one.name.encode()))


def tried(right: Right, *, edits_each: int, seed: int) -> Iterator[Found]:
    """Try some edits of a right submission.

    Args:
        right: It.
        edits_each: How many edits.
        seed: Which edits, and of the inputs of the verdicts.

    Yields:
        What became of each edit.
    """
    task = load_task(right.task)
    with tempfile.TemporaryDirectory() as scratch:
        submission = _placed(right, Path(scratch, "right"))
        usual = _usual(task, submission, seed)
        fuzz = _fuzz(task, submission, [check for check, verdict in usual.items() if verdict in _GOOD])
        made = [
            (file, edit)
            for file, source in _sources(right)
            for lines in [
                fuzz.lines(_placed(right, Path(scratch, f"counting {file}"), file, counting(source)), file)
            ]
            for edit in edits(source)
            if edit.statement in lines
        ]
        for number, (file, edit) in enumerate(_chosen(right, made, edits_each, seed)):
            begun = time.monotonic()
            edited = _placed(right, Path(scratch, str(number)), file, edit.source)
            difference = fuzz.difference(edited) if fuzz.rounds else "there is no fuzz"
            judging = bool(difference) or zlib.crc32(edit.source.encode()) % 1000 < 1000 * HELD
            by = _caught(task, edited, seed, usual) if judging else ""
            end = (CAUGHT if by else HOLE) if difference else (MISSED_BY_FUZZ if by else ALIKE)
            yield Found(
                right.task, right.name, file, str(edit), end, by, difference,
                round(time.monotonic() - begun, 2),
            )  # fmt: skip


def _sources(right: Right) -> Iterator[tuple[str, str]]:
    """File → what stands in it, of those that are no tests."""
    files = [right.path] if right.path.is_file() else sorted(right.path.rglob("*.py"))
    for file in files:
        if file.suffix == ".py" and not file.name.startswith("test"):
            name = file.name if file == right.path else str(file.relative_to(right.path))
            yield name, file.read_text("utf-8")


def _chosen(
    right: Right, made: Sequence[tuple[str, Edit]], count: int, seed: int
) -> Sequence[tuple[str, Edit]]:
    """Edits by chance, which hangs on nothing but the edit and the seed."""
    return sorted(made, key=lambda pair: zlib.crc32(f"{seed}{right.name}{pair[0]}{pair[1]}".encode()))[:count]


def _placed(right: Right, root: Path, file: str = "", source: str = "") -> Submission:
    folder = root / "somebody" / right.task
    if right.path.is_dir():
        shutil.copytree(right.path, folder)
    else:
        folder.mkdir(parents=True)
        shutil.copy(right.path, folder)
    if file:
        folder.joinpath(file).write_text(source, "utf-8")
    return (
        Submission.at(folder, bindings=ROOT / "bindings")
        if not right.path.is_file()
        else Submission.at(folder)
    )


def _usual(task: Task, submission: Submission, seed: int) -> dict[str, Verdict]:
    """Check id → the verdict of the right submission, the quickest first.

    A check that cannot tell of it, which comes last, may yet fail an edit of it.
    """
    generic = {check.id for check in GENERIC}
    bench = Bench(submission, task.contract, seed=seed)
    try:
        outcomes = [run_check(task, check, bench) for check in task.checks if check.id not in generic]
    finally:
        bench.close()
    told = [one for one in outcomes if one.verdict is not Verdict.FAIL]
    ordered = sorted(told, key=lambda one: (one.verdict not in _GOOD, one.seconds))
    return {one.check: one.verdict for one in ordered}


def _fuzz(task: Task, submission: Submission, checks: Sequence[str]) -> Recording:
    asked = [check for check in checks if check not in _PRICED]
    asked_of = recorded(task, submission, _FUZZ, asked)
    first, other = asked_of.answered(submission), asked_of.with_other_numbers(3.0, 0.25).answered(submission)
    return Recording([*first.rounds, *other.rounds])


def _caught(task: Task, submission: Submission, seed: int, usual: dict[str, Verdict]) -> str:
    """The first check that fails, or warns, where the right one does not; else one that cannot tell."""
    bench, untold = Bench(submission, task.contract, seed=seed), ""
    try:
        for check, before in usual.items():
            verdict = run_check(task, task.by_id[check], bench).verdict
            if verdict is Verdict.FAIL or (verdict in _DOUBTS and before in (Verdict.PASS, Verdict.SKIP)):
                return f"{check}: {verdict}"
            if verdict in (Verdict.UNBOUND, Verdict.ERROR) and before is not verdict and not untold:
                untold = f"{check}: {verdict}"
    finally:
        bench.close()
    return untold
