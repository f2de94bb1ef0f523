"""Prints the table check × mutants and twins after a run of them, whatever process ran which."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.specimens import Specimen, specimens, tally, verdict_table
from judge_tui.checks.task import load_task, task_names
from judge_tui.checks.verdict import Verdict

HERE = Path(__file__).parent
TABLES: dict[str, list[tuple[str, str]]] = {}


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


def chosen(every: Mapping[str, Specimen]) -> list[str]:
    """Few specimens with which each check catches a mutant and passes a twin."""
    found, open_claims = [], set().union(*(_claims(name, specimen) for name, specimen in every.items()))
    while open_claims:
        best = max(every, key=lambda name: len(_claims(name, every[name]) & open_claims))
        open_claims -= _claims(best, every[best])
        found.append(best)
    return found


def _claims(name: str, specimen: Specimen) -> set[tuple[str, str, bool]]:
    task = name.partition("/")[0]
    told = {Verdict.FAIL, Verdict.WARN} if specimen.wrong else {Verdict.PASS}
    return {
        (task, check, specimen.wrong) for check, verdicts in specimen.expected.items() if verdicts <= told
    }


def _by_tier(every: Mapping[str, Specimen]) -> Iterator[Any]:
    quick = frozenset(chosen(every))
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
    known: dict[str, Specimen] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "specimen" and report.when == "call":
                    known = known or all_specimens()
                    told = json.loads(value)
                    verdicts = {check: Verdict(verdict) for check, verdict in told["verdicts"].items()}
                    held.append((told["id"], known[told["id"]], verdicts))
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
