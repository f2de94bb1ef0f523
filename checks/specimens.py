"""Specimens: submissions whose verdicts are known, wrong ones (mutants) and right ones (twins).

What a check is worth shows on its specimens: every mutant with one bug must be caught by the
checks that it names, every twin, right code in an unusual style, must pass. A specimen is a file,
or a folder of files, under ``mutants/`` or ``twins/``. Comment lines in it, behind ``#`` in Python and
``//`` in CUDA, say what is expected::

    # bug: dS is used without the factor P        (a mutant: what is wrong)
    # caught by: gradients, logsumexp (warn)      (fail; or warn, ambiguous, unbound)
    # passes: accuracy                            (checks that have nothing to find here)

    # style: a closure instead of a cache         (a twin: what is unusual)
    # skips: cache_minimality (no cache is there) (checks that do not apply)
    # warns: gradients      # ambiguous: length_penalty
    # slow: gradient_cost                         (not run: its size alone makes it slow)
    # only: paged, loads                          (of all checks, just these)
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judge_tui.checks.backends import Place, find
from judge_tui.checks.errors import UsageError
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["Specimen", "Tally", "common_place", "judged", "specimens", "tally", "unexpected", "verdict_table"]

_ITEM = re.compile(r"(\w+)\s*(?:\(([^)]*)\))?")
_SUFFIXES = frozenset({".py", ".cu", ".cuh", ".md"})


@dataclass(frozen=True, slots=True)
class Specimen:
    """A submission whose verdicts are known.

    Attributes:
        path: Its file or folder.
        wrong: Whether it is a mutant.
        about: What is wrong with it, or unusual about it.
        expected: Check id → verdicts that are right.
    """

    path: Path
    wrong: bool
    about: str
    expected: Mapping[str, frozenset[Verdict]]

    @property
    def name(self) -> str:
        """The name of its file or folder."""
        return self.path.stem


@dataclass(slots=True)
class Tally:
    """How a check did on its specimens."""

    caught: int = 0
    mutants: int = 0
    passed: int = 0
    twins: int = 0
    missed: list[str] = field(default_factory=list)


def specimens(folder: Path, task: Task) -> list[Specimen]:
    """Read the mutants and twins of a task.

    Args:
        folder: Holds ``mutants/`` and ``twins/``.
        task: Whose checks they hold.

    Raises:
        UsageError: A head names a check that the task lacks, or a mutant names none.
    """
    return [
        _read(path, task, wrong=kind == "mutants")
        for kind in ("mutants", "twins")
        for path in sorted((folder / kind).iterdir())
        if path.suffix in _SUFFIXES or (path.is_dir() and not path.name.startswith(("_", ".")))
    ]


def _read(path: Path, task: Task, *, wrong: bool) -> Specimen:
    inside = sorted(path.rglob("*")) if path.is_dir() else [path]
    files = [file for file in inside if file.suffix in _SUFFIXES]
    text = "\n".join(file.read_text("utf-8", "replace") for file in files)
    heads = {
        key: {name: remark for line in _lines(text, key) for name, remark in _ITEM.findall(line)}
        for key in ("caught by", "warned by", "passes", "skips", "warns", "ambiguous", "slow", "only")
    }
    named = {name for head in heads.values() for name in head}
    if unknown := named - task.by_id.keys():
        raise UsageError(f"{path} names checks that {task.id} lacks: {', '.join(sorted(unknown))}")
    about = " ".join(_lines(text, "bug" if wrong else "(?:right|style)"))
    expected = _of_mutant(heads) if wrong else _of_twin(heads, task)
    if not expected:
        raise UsageError(f"{path} names no check", hint="Write '# caught by: …' at its head.")
    return Specimen(path, wrong, about, {check: frozenset(verdicts) for check, verdicts in expected.items()})


def _lines(text: str, key: str) -> list[str]:
    return [line.strip() for line in re.findall(rf"^(?:#|//) {key}:(.*)$", text, re.M)]


def _of_mutant(heads: Mapping[str, Mapping[str, str]]) -> dict[str, set[Verdict]]:
    otherwise = {"warn": Verdict.WARN, "unbound": Verdict.UNBOUND, "ambiguous": Verdict.AMBIGUOUS}
    expected = {
        check: {otherwise.get(remark.split(" ")[0], Verdict.FAIL)}
        for check, remark in heads["caught by"].items()
    }
    expected |= {check: {Verdict.WARN} for check in heads["warned by"]}
    return expected | {check: {Verdict.PASS} for check in heads["passes"]}


def _of_twin(heads: Mapping[str, Mapping[str, str]], task: Task) -> dict[str, set[Verdict]]:
    generic = {check.id for check in GENERIC}
    expected: dict[str, set[Verdict]] = {}
    for check in heads["only"] or [check.id for check in task.checks if check.id not in generic]:
        optional = task.by_id[check].optional and check not in (*heads["passes"], *heads["only"])
        expected[check] = {Verdict.PASS, Verdict.SKIP} if optional else {Verdict.PASS}
    expected |= {check: {Verdict.PASS} for check in heads["passes"]}
    for head, verdict in (
        ("skips", Verdict.SKIP),
        ("warns", Verdict.WARN),
        ("ambiguous", Verdict.AMBIGUOUS),
    ):
        expected |= {check: {verdict} for check in heads[head]}
    return {check: verdicts for check, verdicts in expected.items() if check not in heads["slow"]}


def judged(
    specimen: Specimen, task: Task, *, seed: int, checks: Sequence[str] = (), place: Place | None = None
) -> dict[str, Outcome]:
    """Run the checks that a specimen says something about.

    Args:
        specimen: The submission.
        task: Its task.
        seed: Of the inputs.
        checks: Only these of them; all when left out.
        place: Where it computes; where every machine can when left out.

    Returns:
        Check id → outcome; empty when it says nothing about any of them.
    """
    chosen = [check for check in specimen.expected if not checks or check in checks]
    if not chosen:
        return {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "somebody", task.id)
        if specimen.path.is_dir():
            shutil.copytree(specimen.path, folder)
        else:
            folder.mkdir(parents=True)
            shutil.copy(specimen.path, folder)
        return judge(task, Submission.at(folder), seed=seed, checks=chosen, place=place or common_place(task))


def common_place(task: Task) -> Place:
    """Where every machine can judge: on the CPU, CUDA sources through the emulator."""
    usable = (find(name) for name in task.backends if name != "gpu")
    return next((each.places[0] for each in usable if each.works), Place())


def unexpected(specimen: Specimen, verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """The verdicts that are not among those that are right."""
    return {check: verdict for check, verdict in verdicts.items() if verdict not in specimen.expected[check]}


def tally(held: Iterable[tuple[Specimen, Mapping[str, Verdict]]]) -> dict[str, Tally]:
    """Count, per check, the mutants that were caught and the twins that passed.

    A verdict that is to be ``skip`` counts on neither side; a wrong one is missed all the same.

    Args:
        held: Specimens with the verdicts that they had.
    """
    counts: dict[str, Tally] = {}
    for specimen, verdicts in held:
        wrong = unexpected(specimen, verdicts)
        for check in verdicts:
            count = counts.setdefault(check, Tally())
            right = check not in wrong
            if specimen.wrong and Verdict.PASS not in specimen.expected[check]:
                count.mutants += 1
                count.caught += right
            elif specimen.expected[check] != {Verdict.SKIP}:
                count.twins += 1
                count.passed += right
            if not right:
                count.missed.append(f"{specimen.name}: {wrong[check]}")
    return counts


def verdict_table(counts: Mapping[str, Tally]) -> str:
    """Check × mutants caught and twins passed, with sensitivity and specificity in per cent."""
    lines = [f"{'check':<46} {'mutants':>9} {'caught':>7} {'twins':>9} {'passed':>7}"]
    total = Tally()
    for check, count in sorted(counts.items()):
        lines.append(_row(check, count))
        lines += [f"    ✗ {missed}" for missed in count.missed]
        total.caught, total.mutants = total.caught + count.caught, total.mutants + count.mutants
        total.passed, total.twins = total.passed + count.passed, total.twins + count.twins
    return "\n".join([*lines, _row("all checks", total)])


def _row(name: str, count: Tally) -> str:
    return (
        f"{name:<46} {f'{count.caught}/{count.mutants}':>9} {_percent(count.caught, count.mutants):>7} "
        f"{f'{count.passed}/{count.twins}':>9} {_percent(count.passed, count.twins):>7}"
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
