"""All that is in this repository, by the commands that people type, on a cluster of which half is killed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.verdict import Evidence
from judge_tui.judging.timings import is_timing

ROOT = Path(__file__).parents[3]
CHECK = [
    sys.executable,
    "-P",
    "-m",
    "judge_tui.cli",
    "check",
    "--all",
    "--seed",
    "5",
    "--workspace",
    str(ROOT),
]
DASK = str(Path(sys.executable).with_name("dask"))
#: Outcomes of these hang on what else the machine does: they time calls, or say how long something took.
TIMED = ("throughput", "own_tests", "gradient_cost")
#: Submissions of which something is known when the workers are killed.
BEGUN = 6
PATIENCE_S = 3600

pytestmark = [pytest.mark.campaign, pytest.mark.xdist_group("cluster")]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Address of a scheduler, and four workers."""
    with contextlib.ExitStack() as undo:

        def started(*arguments: str) -> subprocess.Popen[bytes]:
            with (tmp_path / "log").open("ab") as log:
                process = subprocess.Popen([DASK, *arguments], stdout=log, stderr=log, cwd=tmp_path)
            undo.callback(process.wait)
            undo.callback(process.kill)
            return process

        at = tmp_path / "scheduler.json"
        own = ("--scheduler-file", str(at), "--host", "127.0.0.1", "--no-dashboard")
        started("scheduler", *own, "--port", "0", "--dashboard-address", "127.0.0.1:0")
        workers = [started("worker", *own, "--nthreads", "1", "--no-nanny") for _ in range(4)]
        until = time.monotonic() + 60
        while not (at.is_file() and at.read_text()):
            assert time.monotonic() < until
            time.sleep(0.1)
        yield json.loads(at.read_text())["address"], workers


def told(printed: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Task, model, check → what does not hang on when and where it was found."""
    found = {}
    for one in json.loads(printed)["outcomes"]:
        left_out = {"seconds", "host", "evidence", "summary"} | (
            {"verdict"} if one["check"] in TIMED else set()
        )
        own = {key: value for key, value in one.items() if key not in left_out}
        if one["check"] in TIMED:
            one["evidence"] = []
        # of a figure what it is about, and whether it is within its limit: resident bytes and roundings vary
        own["evidence"] = sorted(
            (re.sub(r"\d+", "", item["quantity"]), item.get("ok"))
            for item in one.get("evidence", ())
            if not is_timing(one["check"], Evidence(item["quantity"], unit=item.get("unit", "")))
        )
        found[one["task"], one["model"], one["check"]] = own
    return found


def slow(printed: str) -> set[tuple[str, str, str]]:
    """Outcomes that say that the machine was too slow for some of it."""
    found = json.loads(printed)["outcomes"]
    return {(one["task"], one["model"], one["check"]) for one in found if "too slow" in json.dumps(one)}


def test_half_of_the_workers_are_killed_and_this_repository_gets_the_verdicts_of_one_machine(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    environment = os.environ | {"JUDGE_TUI_CACHE": str(tmp_path / "far")}
    command = [*CHECK, "--format", "json", "--engine", "dask", "--scheduler", address]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    outcomes = tmp_path / "far" / "outcomes"
    until = time.monotonic() + PATIENCE_S
    while len([f for f in outcomes.glob("*.json") if "-" not in f.name]) < BEGUN:
        assert running.poll() is None
        assert time.monotonic() < until
        time.sleep(0.2)
    for worker in workers[:2]:
        worker.send_signal(signal.SIGKILL)
    far, _errors = running.communicate(timeout=PATIENCE_S)
    environment["JUDGE_TUI_CACHE"] = str(tmp_path / "here")
    here = subprocess.run([*CHECK, "--format", "json", "--jobs", "2"], stdout=subprocess.PIPE, text=True,
                          env=environment, check=False, timeout=PATIENCE_S)  # fmt: skip
    assert [one for one in json.loads(far)["outcomes"] if one["verdict"] == "error"] == []
    assert running.returncode == here.returncode
    both = [told(printed) for printed in (far, here.stdout)]
    for key in set().union(*map(slow, (far, here.stdout))):
        for each in both:
            each[key]["evidence"] = []
    assert both[0] == both[1]
