"""What the checks found on the reconstructions, over several seeds, and how to look it up."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from judge_tui.checks.own_process import python
from judge_tui.checks.verdict import Evidence, Outcome, Report

__all__ = ["ROOT", "Runs", "read_runs", "run_checks"]

ROOT = Path(__file__).resolve().parents[2]
_RAN = {0, 1}
#: Checks that read or compile the submission, or run its own tests: no seed of ours changes them.
_NO_DRAWS = {"compiles", "loads", "own_tests", "purity", "resources", "size", "throughput"}


def run_checks(seeds: Sequence[int], workspace: Path = ROOT, *, stored: bool = False) -> Runs:
    """Run the checks on every reconstruction, once per seed.

    Args:
        seeds: The first one runs every check, the others those that draw inputs.
        workspace: Where the reconstructions are.
        stored: Take outcomes that an earlier run has stored.

    Raises:
        RuntimeError: The engine could not run; the message is what it said.
    """
    reports: list[Report] = []
    for seed in seeds:
        drawing = {o.check for o in reports[0].outcomes} - _NO_DRAWS if reports else set()
        words = [
            "--all",
            "--seed",
            str(seed),
            "--workspace",
            str(workspace),
            *([] if stored else ["--fresh"]),
        ]
        report = _checked(words + [word for check in sorted(drawing) for word in ("--check", check)])
        reports.append(report if reports else _asked_again(report, words[1:5]))
    return Runs(reports)


def read_runs(files: Sequence[Path]) -> Runs:
    """Reports that ``judge-tui check --format json`` wrote; the first one must have every check."""
    return Runs([msgspec.json.decode(file.read_bytes(), type=Report) for file in files])


def _checked(words: list[str]) -> Report:
    command = python("-m", "judge_tui.cli", "check", *words, "--format", "json", "--jobs", "2")
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode not in _RAN:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return msgspec.json.decode(done.stdout, type=Report)


def _asked_again(report: Report, words: list[str]) -> Report:
    """The report with own tests that did not pass run once more, alone: a busy machine makes them late."""
    outcomes: list[Outcome] = []
    for old in report.outcomes:
        if old.check == "own_tests" and str(old.verdict) not in {"pass", "skip"}:
            again = [old.model, "--task", old.task, "--check", old.check, "--fresh", *words]
            outcomes += _checked(again).outcomes
        else:
            outcomes.append(old)
    return msgspec.structs.replace(report, outcomes=tuple(outcomes))


class Runs:
    """Outcomes of one run per seed, looked up by task, model (its folder) and check (its id).

    A look-up that finds nothing raises ``LookupError``: a claim whose measurement has gone stops the script.
    """

    def __init__(self, reports: Sequence[Report]) -> None:
        self.reports = tuple(reports)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The random seeds, in the order of the runs."""
        return tuple(report.seed for report in self.reports)

    def outcomes(self, task: str, model: str, check: str) -> list[Outcome]:
        """One outcome per seed that the check was run with, the first seed's first."""
        wanted = (task, model, check)
        found = [o for r in self.reports for o in r.outcomes if (o.task, o.model, o.check) == wanted]
        if not found:
            raise LookupError(f"no outcome of {check} on {model}/{task}")
        return found

    def verdict(self, task: str, model: str, check: str) -> str:
        """The verdict, which must be one over all seeds.

        Raises:
            LookupError: The check was not run, or its verdict hangs on the seed.
        """
        told = {str(outcome.verdict) for outcome in self.outcomes(task, model, check)}
        if len(told) != 1:
            raise LookupError(f"{check} on {model}/{task} depends on the seed: {sorted(told)}")
        return told.pop()

    def passes(self, task: str, models: Sequence[str], *checks: str) -> bool:
        """Whether all of these checks pass on all of these models, warnings included."""
        return all(self.verdict(task, m, c) in {"pass", "warn"} for m in models for c in checks)

    def evidence(self, task: str, model: str, check: str, words: str) -> list[Evidence]:
        """The evidence, over all seeds, whose quantity contains the words."""
        outcomes = self.outcomes(task, model, check)
        found = [e for o in outcomes for e in o.evidence if words in e.quantity]
        if not found:
            raise LookupError(f"{check} on {model}/{task} has no evidence on {words!r}")
        return found

    def figures(self, task: str, model: str, check: str, words: str) -> list[float]:
        """Measured numbers of that evidence; what was not finite reads as infinite."""
        measured = [e.measured for e in self.evidence(task, model, check, words)]
        return [float(m) if isinstance(m, int | float) else float("inf") for m in measured]

    def said(self, task: str, model: str, check: str, pattern: str) -> str:
        """What the first outcome's summary says, by the first group of a pattern."""
        summary = self.outcomes(task, model, check)[0].summary
        if (match := re.search(pattern, summary)) is None:
            raise LookupError(f"{check} on {model}/{task} says {summary!r}, without {pattern!r}")
        return match.group(1)

    def printed(self, task: str, model: str, pattern: str) -> list[str]:
        """What the submission's own tests print: the first group of every match."""
        own = self.outcomes(task, model, "own_tests")[0]
        found = [text for e in own.evidence for text in re.findall(pattern, e.output)]
        if not found:
            raise LookupError(f"the tests of {model}/{task} print nothing like {pattern!r}")
        return found

    def own_tests(self, task: str, model: str) -> int:
        """How many tests of its own a submission ran, scripts aside."""
        return sum(
            "main script" not in e.quantity
            for e in self.outcomes(task, model, "own_tests")[0].evidence
            if isinstance(e.measured, int | float)
        )
