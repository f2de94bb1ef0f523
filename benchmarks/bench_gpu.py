"""What the GPU side is held to, in one report: verdicts against the CPU's, speed as ratios, the limits.

Run by ``benchmarks/gpu.sh``. Each part has a share of the time; what did not fit is named, not
left out. ``--fake`` runs the parts on a strict double of CuPy: it tests this program and measures nothing.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gpu_flash
import gpu_fuse
import numpy as np

from judge_tui.checks.backends import Backend, Device, Place, cpu_name, find
from judge_tui.checks.bench import Bench
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task
from judge_tui.checks.verdict import Outcome

ROOT = Path(__file__).resolve().parent.parent
TASKS = ("backwards", "flash_attention", "flash_attention_bwd", "kv", "ternary_training")
#: Their arrays are small and their loops are Python's: the GPU gives nothing, so they come last.
LOOPS = ("dflash_verify", "beam_search")


@dataclass(slots=True)
class Budget:
    """Seconds that are left of the whole run."""

    seconds: float
    started: float

    @property
    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.started)


def submissions(task: str) -> list[Submission]:
    """Every reconstruction of a task."""
    return [
        Submission.at(path)
        for path in sorted((ROOT / "submissions").glob(f"*/{task}"))
        if any(path.iterdir())
    ]


def timed(
    task: Task, submission: Submission, checks: list[str], place: Place
) -> tuple[dict[str, Outcome], float]:
    """Outcomes and seconds."""
    began = time.monotonic()
    return judge(task, submission, seed=1, checks=checks, place=place), time.monotonic() - began


def gradients(gpu: Place) -> Iterator[str]:
    """Full element-wise verification of gradients at (2, 128, 1024), GPU against CPU."""
    task = load_task("backwards")
    for submission in submissions("backwards"):
        seconds = {}
        for place in (Place(), gpu):
            outcome, took = timed(task, submission, ["gradient_cost"], place)
            seconds[place.backend] = took
            found = outcome["gradient_cost"]
            yield f"- {submission.model}, {place.backend}: {found.verdict}, {took:.2f} s, {found.summary}"
        yield f"  ratio GPU / CPU: {seconds['gpu'] / seconds['cpu']:.3g}"


def flash(gpu: Place, lengths: tuple[int, ...], budget: Budget) -> Iterator[str]:
    """The claims of the flash checks at long sequences, forward and backward."""
    for name, lines in (("flash_attention", gpu_flash.forward), ("flash_attention_bwd", gpu_flash.backward)):
        task = load_task(name)
        for submission in submissions(name):
            for length in lengths:
                if budget.left < 0:
                    yield f"- {name}, {submission.model}, N = {length}: FAILS: out of time"
                    continue
                yield f"- {name}, {submission.model}, N = {length}"
                on_cpu = Bench(submission, task.contract, seed=1)
                bench = Bench(submission, task.contract, seed=1, place=gpu, binds=on_cpu)
                try:
                    bench.begin("flash", 120.0)
                    yield from map(str, gpu_flash.tried(lines, bench, length))
                finally:
                    bench.close()
                    on_cpu.close()


def verdicts(gpu: Place, tasks: tuple[str, ...], budget: Budget, checks: tuple[str, ...]) -> Iterator[str]:
    """Every check of every reconstruction on both; what differs is named."""
    same = other = skipped = 0
    left: list[str] = []
    for name in tasks:
        pair: dict[str, list[float]] = {"cpu": [], "gpu": []}
        task = load_task(name)
        wanted = [c.id for c in task.checks if not c.host and c.id not in ("throughput", "gradient_cost")]
        wanted = [id for id in wanted if not checks or id in checks]
        for submission in submissions(name):
            took = {}
            if budget.left < 0:
                left.append(f"{submission.model}/{name}")
                continue
            here, took["cpu"] = timed(task, submission, wanted, Place())
            there, took["gpu"] = timed(task, submission, wanted, gpu)
            yield f"- {submission.model}/{name}: CPU {took['cpu']:.1f} s, GPU {took['gpu']:.1f} s"
            for place, seconds in took.items():
                pair[place].append(seconds)
            for id in wanted:
                if here[id].verdict == there[id].verdict:
                    same += 1
                elif there[id].summary.startswith("not portable to the GPU"):
                    skipped += 1
                    yield f"  - {id}: {there[id].summary}"
                else:
                    other += 1
                    yield f"  - {id}: CPU {here[id].verdict}, GPU {there[id].verdict}: {there[id].summary}"
        cpu, device = (sum(pair[place][:2]) for place in ("cpu", "gpu"))
        if len(pair["gpu"]) > 1:
            yield f"- {name}, all checks of the first two: GPU / CPU = {device / cpu:.3g}"
    yield f"\nThe same verdict: {same}; not portable: {skipped}; another verdict: {other}."
    if left:
        yield f"Out of time for: {', '.join(left)}."


def known(gpu: Place, tasks: tuple[str, ...], checks: tuple[str, ...]) -> Iterator[str]:
    """Every mutant and twin on the GPU, held against what its head says."""
    from judge_tui.checks.specimens import judged, specimens, unexpected

    for name in tasks:
        task = load_task(name)
        for specimen in specimens(ROOT / "tests" / "checks" / "tasks" / name, task):
            found = judged(specimen, task, seed=1, checks=checks, place=gpu)
            apart = {id: o for id, o in found.items() if o.summary.startswith("not portable to the GPU")}
            told = {id: o.verdict for id, o in found.items() if id not in apart}
            kind = "mutant" if specimen.wrong else "twin"
            yield f"- {name}, {kind} {specimen.name}: {len(told)} verdicts"
            for id, outcome in apart.items():
                yield f"  - {id}: {outcome.summary}"
            for id in unexpected(specimen, told):
                yield f"  - {id}: another verdict: {found[id].verdict}: {found[id].summary}"


def setting(backend: Backend, fake: bool) -> Iterator[str]:
    """What it was measured on."""
    if fake:
        yield "**FAKE DEVICE: a strict double of CuPy. Nothing in this report was measured on a GPU.**\n"
    yield f"- date: {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}"
    for device in backend.devices:
        memory = f"{device.memory / 2**30:.0f} GiB, capability {device.capability}"
        yield f"- device {device.id}: {device.name}, {memory}"
    yield f"- processor: {cpu_name()}; Python {platform.python_version()}, NumPy {np.__version__}"


def _wrong(line: str) -> bool:
    """Whether a line of the report tells something that does not hold."""
    return "FAILS" in line or ("another verdict: " in line and "another verdict: 0." not in line)


def main() -> int:
    """Write the report to standard output; 1 when a verdict differs, 2 without a GPU."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=360.0, help="what the verdicts may take")
    parser.add_argument("--fake", action="store_true", help="run on a strict double, to test this program")
    parser.add_argument("--tasks", nargs="*", default=[*TASKS, *LOOPS])
    parser.add_argument("--check", nargs="*", default=[], help="only these checks in the table of verdicts")
    parser.add_argument("--lengths", nargs="*", type=int, default=[4096, 16384])
    parser.add_argument("--parts", nargs="*", default=["gradients", "fuse", "flash", "verdicts"])
    given = parser.parse_args()
    backend = find("gpu")
    if given.fake:
        sys.path.insert(0, str(ROOT / "tests" / "checks" / "doubles"))
        backend = Backend("gpu", (Device("0", "a strict double"),), arrays="strict_cupy")
    if not backend.works:
        print(f"no GPU: {backend.reason}. {backend.hint}", file=sys.stderr)
        return 2
    gpu, budget, differs = backend.places[0], Budget(given.seconds, time.monotonic()), False
    # the double of CuPy launches no kernels: the emulator stands in for the card
    kernels = find("emulator").places[0] if given.fake else gpu
    print("# GPU report\n", *setting(backend, given.fake), sep="\n")
    checks = tuple(given.check)
    parts: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
        "gradients": ("Gradients, full element-wise, (2, 128, 1024)", lambda: gradients(gpu)),
        "fuse": ("CUDA submissions", lambda: gpu_fuse.fuse(kernels, submissions("fuse"))),
        "flash": ("Flash attention at long sequences", lambda: flash(gpu, tuple(given.lengths), budget)),
        "verdicts": (
            "Verdicts, GPU against CPU",
            lambda: verdicts(gpu, tuple(given.tasks), budget, checks),
        ),
        "specimens": ("Mutants and twins on the GPU", lambda: known(gpu, tuple(given.tasks), checks)),
    }
    for part in given.parts:
        title, lines = parts[part]
        print(f"\n## {title}\n", flush=True)
        for line in lines():
            print(line, flush=True)
            differs = differs or _wrong(line)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
