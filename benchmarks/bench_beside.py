"""An honest submission beside a hostile one: seconds to its last verdict, over those alone on one processor.

    python benchmarks/bench_beside.py

Both run through the engine, the hostile one first. It burns processors in every call and with threads, floods
what it answers with, prints without end, or sleeps until its budgets are used up.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from judge_tui.checks.events import Finished, decode

ROOT = Path(__file__).parents[1]
HONEST = ROOT / "tests/checks/tasks/backwards/twins/cache_first.py"
CHECKS = ("loads", "forward_accuracy", "gradients", "purity", "cache_minimality")
#: Put behind the honest code.
HOSTILE = {
    "burns in threads": """
import threading
def _burn():
    while True:
        sum(range(1000))
for _ in range(8):
    threading.Thread(target=_burn, daemon=True).start()
""",
    "burns in calls": """
for _name in [n for n, v in list(globals().items()) if callable(v) and not n.startswith("_")]:
    def _never(*a, **k):
        while True:
            pass
    globals()[_name] = _never
""",
    "sleeps in calls": """
import time
for _name in [n for n, v in list(globals().items()) if callable(v) and not n.startswith("_")]:
    def _later(*a, **k):
        time.sleep(1000)
    globals()[_name] = _later
""",
    "prints": """
import threading
def _print():
    while True:
        print("x" * 65536, flush=True)
threading.Thread(target=_print, daemon=True).start()
""",
    "takes memory": """
import threading
def _take():
    kept = []
    while True:
        try:
            kept.append(bytearray(1 << 24))
        except MemoryError:
            kept.clear()
threading.Thread(target=_take, daemon=True).start()
""",
}
LIMIT, ROUNDS, PATIENCE_S = 1.5, 3, 120.0


def seconds(sources: dict[str, str]) -> float:
    """From the request to the last verdict of the honest submission; infinite where it is not all of them."""
    with tempfile.TemporaryDirectory() as scratch:
        asked = []
        for model, text in sources.items():
            folder = Path(scratch, model, "backwards")
            folder.mkdir(parents=True)
            (folder / "code.py").write_text(text)
            asked.append({"model": model, "path": str(folder)})
        body = {"task": "backwards", "submissions": asked, "checks": CHECKS, "seed": 3, "fresh": True}
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "judge_tui.checks.engine", "backwards"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "JUDGE_TUI_CACHE": f"{scratch}/store"},
        ) as engine:  # fmt: skip
            assert engine.stdin is not None
            assert engine.stdout is not None
            started, left = time.perf_counter(), set(CHECKS)
            engine.stdin.write(json.dumps(body).encode() + b"\n")
            engine.stdin.flush()
            for event in map(decode, engine.stdout):
                if isinstance(event, Finished) and event.outcome.model == "honest":
                    left.discard(event.outcome.check)
                if not left or time.perf_counter() - started > PATIENCE_S:
                    break
            took = time.perf_counter() - started
            engine.terminate()
    return float("inf") if left else took


def on(processors: set[int], sources: dict[str, str]) -> float:
    """The median of several runs that have these processors."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        return median(seconds(sources) for _ in range(ROUNDS))
    finally:
        os.sched_setaffinity(0, every)


def main() -> int:
    every = os.sched_getaffinity(0)
    if len(every) < 2:
        print("    beside a hostile submission: not told of one processor")
        return 0
    honest = HONEST.read_text()
    seconds({"honest": honest})
    alone = on({min(every)}, {"honest": honest})
    bad = 0
    for kind, text in HOSTILE.items():
        ratio = on(every, {"hostile": honest + text, "honest": honest}) / alone
        bad += (out := ratio > LIMIT)
        what = f"honest beside one that {kind}, over alone on one core"
        print(f"{'OUT' if out else 'ok '} {what:<62} {ratio:>5.2f} ×   limit {LIMIT} ×", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
