"""Many machines: what a cluster costs beside the local engine, and how many jobs it can hand out.

    python benchmarks/bench_cluster.py [--jobs 40000]

Two workers do jobs whose one check does nothing: what is left is the way there and back, the files of each
submission and its stored outcome. The rate that is held is that of two processors which do nothing else, by
the processor time of all processes; beside it stands what this machine did. Memory is the kernel's count.
Then two workers judge what the local engine judges with ``--jobs 2``, in turn, in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from judge_tui.checks.check import Check, Findings
from judge_tui.checks.cluster.connection import Address
from judge_tui.checks.cluster.executor import Cluster
from judge_tui.checks.events import Finished
from judge_tui.checks.jobs.job import Executor, Order, Work
from judge_tui.checks.request import Request, RequestedSubmission
from judge_tui.checks.runner import run
from judge_tui.checks.store import Store
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task

ROOT = Path(__file__).parents[1]
PROCESSES = ROOT / "tests/checks/cluster/processes.py"
RATIO, PER_SECOND, GROWTH_MB = 1.15, 300, 48
#: Tasks whose checks compute, and take a few seconds each.
TASKS = ("backwards", "beam_search")
MODELS = ("glm5", "qwen36")
ROUNDS = 3
#: Share of the jobs after which memory has to have found its size.
SETTLED = 0.25


def machines(workers: int, *how: str) -> tuple[subprocess.Popen[str], dict[str, object]]:
    started = subprocess.Popen(
        [sys.executable, "-P", str(PROCESSES), str(workers), *how],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert started.stdout is not None
    return started, json.loads(started.stdout.readline())


def judged(executor: Executor | None, scratch: Path) -> float:
    """Seconds that it takes to judge the pairs, by this machine or a cluster."""
    began = time.perf_counter()
    for task in TASKS:
        asked = tuple(RequestedSubmission(m, str(ROOT / "submissions" / m / task)) for m in MODELS)
        store = Store(Path(tempfile.mkdtemp(dir=scratch)))
        how = {} if executor is None else {"executor": executor}
        found = list(run(Request(task, asked, seed=5, jobs=2), store=store, **how))
        assert sum(isinstance(event, Finished) for event in found) == len(MODELS) * len(
            load_task(task).checks
        )
    return time.perf_counter() - began


def beside_the_local_engine(scratch: Path) -> int:
    processes, told = machines(2)
    try:
        with Cluster(Address(str(told["address"]))) as cluster:
            # everything is imported once, here and there
            judged(cluster, scratch)
            rounds = [(judged(None, scratch), judged(cluster, scratch)) for _ in range(ROUNDS)]
    finally:
        end(processes)
    local, far = (min(each) for each in zip(*rounds, strict=True))
    return say(
        "two workers beside --jobs 2, the best of each",
        far / local,
        RATIO,
        f"   {far:.1f} s against {local:.1f} s",
    )


def nothing(bench: object, found: Findings) -> str:
    found.claim("that", True)
    return "nothing was done"


def idle_task() -> Task:
    """A task whose one check does nothing."""
    task = load_task("backwards")
    return replace(task, checks=(Check("nothing", "nothing", "nothing", nothing),))


def resident(pid: int) -> float:
    """Megabytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def processor(pid: int) -> float:
    """Seconds of processor time."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def many(jobs: int, scratch: Path) -> int:
    processes, told = machines(2, "--idle")
    pids = {"client": os.getpid(), "scheduler": int(str(told["scheduler"]))}
    pids |= {f"worker {n}": int(pid) for n, pid in enumerate(told["workers"], 1)}  # type: ignore[arg-type]
    folder, task, store = scratch / "answer", idle_task(), Store(scratch / "many")
    folder.mkdir()
    (folder / "norm.py").write_text("def layer_norm_forward(x, gamma, beta):\n    return x\n" * 40)

    def works() -> Iterator[Work]:
        for number in range(jobs):
            yield Work(Submission(f"m{number}", "backwards", folder), task.checks)

    def keep(submission: Submission, device: str, outcome: object) -> None:
        store.keep([outcome], store.key(submission, "cpu", device))  # type: ignore[list-item]

    memory: list[dict[str, float]] = []
    try:
        with Cluster(Address(str(told["address"]))) as cluster:
            order, count = Order(task, None, cluster.find("cpu"), 5, trust=False), 0
            began, before_all = time.perf_counter(), sum(map(processor, pids.values()))
            for event in cluster.events(order, works(), keep, lambda: False):
                if isinstance(event, Finished):
                    count += 1
                    if count in (int(jobs * SETTLED), jobs):
                        memory.append({name: resident(pid) for name, pid in pids.items()})
            took, used = time.perf_counter() - began, sum(map(processor, pids.values())) - before_all
    finally:
        end(processes)
    assert count == jobs
    beside = f"   {used / jobs * 1000:.1f} ms of processor a job; {jobs / took:.0f} a second here and now"
    rate = 2 * jobs / used
    bad = say(f"{jobs} jobs that do nothing, a second on two cores", rate, PER_SECOND, beside, least=True)
    for name in pids:
        before, after = (each[name] for each in memory)
        bad += say(
            f"memory of the {name}, MB more at the end", after - before, GROWTH_MB, f"   {after:.0f} MB"
        )
    return bad


def end(processes: subprocess.Popen[str]) -> None:
    assert processes.stdin is not None
    processes.stdin.close()
    processes.wait()


def say(what: str, value: float, limit: float, beside: str = "", *, least: bool = False) -> int:
    ok = value >= limit if least else value <= limit
    print(f"{'ok ' if ok else 'OUT'} {what:<50} {value:>8.2f}   limit {limit}{beside}", flush=True)
    return not ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=40_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["JUDGE_TUI_CACHE"] = f"{scratch}/store"
        bad = many(given.jobs, Path(scratch))
        return bad + beside_the_local_engine(Path(scratch))


if __name__ == "__main__":
    sys.exit(main() > 0)
