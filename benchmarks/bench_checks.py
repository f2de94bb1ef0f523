"""Checks on the screen: first verdict, all verdicts of a pair per task, and all of them again from the store.

    python benchmarks/bench_checks.py [--task kv]

Opens ``judge-tui compare`` on a pseudo-terminal with an empty store, then once more with a full one.
Of a task that the workspace has no two submissions of, two right ones of the tests take their place; a
challenge of the user's own is the guide's.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from bench_tui import Terminal

from judge_tui.checks.task import task_names

ROOT = Path(__file__).parents[1]
#: A challenge of the user's own.
OWN = "rms_norm"
FIRST_S, ALL_S, AGAIN_S = 1.5, 20.0, 0.3
PATIENCE_S = 180
FRAME = re.compile(rb"\d/\d+")
VERDICT = re.compile("[✓✗!–] ?[0-9]*".encode() + rb"[^\n]{0,40}(pass|fail|warn|skip)")
FINISHED = re.compile(rb"\d+ checks")


def moments(argv: list[str], patterns: list[re.Pattern[bytes]]) -> list[float]:
    """Seconds from start until each pattern, one after another, is on the screen."""
    terminal = Terminal(*argv)
    try:
        seen, found = b"", []
        for pattern in patterns:
            while not pattern.search(seen):
                seen += terminal.read(0.5)
                if time.perf_counter() - terminal.started > PATIENCE_S:
                    return found
            found.append(time.perf_counter() - terminal.started)
        return found
    finally:
        terminal.close()


#: What a folder that holds more than the task's text has.
SOURCES = (".py", ".cu", ".cuh")


def opponents(task: str, scratch: Path) -> tuple[Path, list[str]]:
    """A workspace and two models of it that answered a task."""
    sources = [path for path in sorted(ROOT.glob(f"submissions/*/{task}/*")) if path.suffix in SOURCES]
    pair = list(dict.fromkeys(path.parent.parent.name for path in sources))[:2]
    if len(pair) == 2:
        return ROOT, pair
    twins = sorted(path for path in ROOT.glob(f"tests/checks/tasks/{task}/twins/*.py"))[:2]
    for twin in twins:
        folder = scratch / "submissions" / twin.stem / task
        folder.mkdir(parents=True)
        shutil.copy(twin, folder)
    (scratch / "scores").mkdir()
    return scratch, [twin.stem for twin in twins]


def challengers(scratch: Path) -> tuple[Path, list[str]]:
    """A workspace with a challenge of the guide, and two answers to it."""
    shutil.copytree(ROOT / "docs/examples/challenges" / OWN, scratch / "challenges" / OWN)
    answers = sorted((scratch / "challenges" / OWN).glob("*/*/answer.py"))[:2]
    for answer in answers:
        shutil.copytree(answer.parent, scratch / "submissions" / answer.parent.name / OWN)
    (scratch / "scores").mkdir()
    return scratch, [answer.parent.name for answer in answers]


def say(what: str, seconds: float, limit: float) -> int:
    ok = seconds <= limit
    print(f"{'ok ' if ok else 'OUT'} {what:<54} {seconds:>7.2f} s   limit {limit} s")
    return not ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tasks = (*task_names(), OWN)
    parser.add_argument("--task", action="append", choices=tasks)
    bad = 0
    for task in parser.parse_args().task or tasks:
        with tempfile.TemporaryDirectory() as scratch:
            os.environ["JUDGE_TUI_CACHE"] = f"{scratch}/store"
            place = Path(scratch, "workspace")
            root, pair = challengers(place) if task == OWN else opponents(task, place)
            argv = [sys.executable, "-P", "-m", "judge_tui.cli", "compare", *pair, "--task", task]
            argv += ["--workspace", str(root), "--judge", "bench"]
            fresh = moments(argv, [FRAME, VERDICT, FINISHED])
            if len(fresh) < 3:
                print(f"OUT {task}: not finished within {PATIENCE_S} s")
                bad += 1
                continue
            again = moments(argv, [FRAME, FINISHED])
        bad += say(f"{task}: first verdict after opening", fresh[1], FIRST_S)
        bad += say(f"{task}: all checks of {' and '.join(pair)}", fresh[2], ALL_S)
        bad += say(f"{task}: all verdicts again, after the first frame", again[1] - again[0], AGAIN_S)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
