"""Prints the table check × mutants and twins after a run of them, whatever process ran which."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from judge_tui.checks.specimens import Specimen, specimens, tally, verdict_table
from judge_tui.checks.task import load_task, task_names
from judge_tui.checks.verdict import Verdict

HERE = Path(__file__).parent
TABLES: dict[str, list[tuple[str, str]]] = {}


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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "specimen_id" in metafunc.fixturenames:
        names = list(all_specimens())
        # every one under the seed of the table; some, another few per task, under more of them
        metafunc.parametrize("specimen_id", names[::100] if "seed" in metafunc.fixturenames else names)


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
