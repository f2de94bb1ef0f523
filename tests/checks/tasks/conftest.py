"""Prints the table check × mutants and twins after a run of them, whatever process ran which."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.specimens import Specimen, specimens, tally, verdict_table
from judge_tui.checks.task import load_task, task_names
from judge_tui.checks.verdict import Verdict

HERE = Path(__file__).parent
#: Specimens of the tier ``quick``, each with its checks.
QUICK = HERE / "quick.txt"
#: Set, that list is written anew; by ``make tiers``.
MEASURING = "JUDGE_TUI_WRITE_QUICK"
#: Seconds that a specimen takes before its first check.
START = 0.7
#: Task, check, and whether it is to be caught.
Claim = tuple[str, str, bool]


@cache
def all_specimens() -> dict[str, Specimen]:
    """Every specimen, under ``task/mutants/name``."""
    found = {}
    for task in task_names():
        folder = HERE / task
        if folder.is_dir():
            for specimen in specimens(folder, load_task(task)):
                kind = "mutants" if specimen.wrong else "twins"
                found[f"{task}/{kind}/{specimen.name}"] = specimen
    return found


@cache
def chosen() -> dict[str, list[str]]:
    """Few specimens with which each check catches a mutant and passes a twin → checks that they do it for."""
    claims = {name: _claims(name, specimen) for name, specimen in all_specimens().items()}
    found: defaultdict[str, list[str]] = defaultdict(list)
    left = set[Claim]().union(*claims.values())
    listed = [line.split() for line in QUICK.read_text().splitlines()] if QUICK.exists() else []
    for name, *checks in listed:
        settled = {claim for claim in claims.get(name, set()) & left if claim[1] in checks}
        found[name] += sorted(check for _, check, _ in settled)
        left -= settled
    while left:
        # of a check that nobody has measured yet
        best = max(claims, key=lambda name: len(claims[name] & left))
        found[best] += sorted(check for _, check, _ in claims[best] & left)
        left -= claims[best]
    return {name: checks for name, checks in found.items() if checks}


def quickest(seconds: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """Few specimens for :func:`chosen` that take little time.

    Args:
        seconds: Specimen → check → what it took.

    Returns:
        Specimen → the checks that are held against it.
    """
    claims = {
        name: {claim for claim in _claims(name, specimen) if claim[1] in seconds.get(name, {})}
        for name, specimen in all_specimens().items()
    }
    found: dict[str, list[str]] = {}
    left = set[Claim]().union(*claims.values())

    def price(name: str) -> tuple[float, str]:
        new = claims[name] & left
        return (START + sum(seconds[name][check] for _, check, _ in new)) / len(new), name

    while left:
        best = min((name for name in claims if claims[name] & left), key=price)
        found[best] = sorted(check for _, check, _ in claims[best] & left)
        left -= claims[best]
    return found


def _claims(name: str, specimen: Specimen) -> set[Claim]:
    task = name.partition("/")[0]
    told = {Verdict.FAIL, Verdict.WARN} if specimen.wrong else {Verdict.PASS}
    return {
        (task, check, specimen.wrong) for check, verdicts in specimen.expected.items() if verdicts <= told
    }


def _by_tier(every: Mapping[str, Specimen]) -> Iterator[Any]:
    quick = chosen()
    for name in every:
        yield pytest.param(name, marks=pytest.mark.quick if name in quick else pytest.mark.thorough)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "specimen_id" in metafunc.fixturenames:
        every = all_specimens()
        if "seed" in metafunc.fixturenames:
            # every one under the seed of the table; some, another few per task, under another one
            metafunc.parametrize("specimen_id", list(every)[::100])
        else:
            metafunc.parametrize("specimen_id", list(_by_tier(every)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the table of the specimens that ran."""
    held: list[tuple[str, Specimen, Mapping[str, Verdict]]] = []
    took: dict[str, dict[str, float]] = {}
    known: dict[str, Specimen] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "specimen" and report.when == "call":
                    known = known or all_specimens()
                    told = json.loads(value)
                    verdicts = {check: Verdict(verdict) for check, verdict in told["verdicts"].items()}
                    held.append((told["id"], known[told["id"]], verdicts))
                    took[told["id"]] = told["seconds"]
    if held:
        renamed = [
            (specimen, verdicts, specimen_id.split("/")[0]) for specimen_id, specimen, verdicts in held
        ]
        counts = {}
        for task in sorted({task for *_, task in renamed}):
            own = tally((specimen, verdicts) for specimen, verdicts, of in renamed if of == task)
            counts |= {f"{task} · {check}": count for check, count in own.items()}
        terminalreporter.section("verdicts on mutants and twins")
        terminalreporter.write_line(verdict_table(counts))
        if os.environ.get(MEASURING):
            lines = (f"{name} {' '.join(checks)}\n" for name, checks in quickest(took).items())
            QUICK.write_text("".join(sorted(lines)))
