"""Verdicts under many seeds: every reconstruction, mutant and twin must get the same one each time.

    python benchmarks/seeds.py [--task kv] [--seeds 20] [--first 1] [--only NAME] [--check ID]
                               [--log FILE]

Prints each submission whose verdict changed with the seed, or, of a specimen, was wrong;
exits 1 when there is one. With ``--log`` every verdict is written down as it comes, and what a
run that was broken off has in there is not judged again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import astuple, dataclass
from pathlib import Path

from judge_tui.checks.runner import judge
from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task, task_names

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Case:
    """A submission that is judged once per seed; ``kind`` is mutants, twins or submissions.

    ``check`` is the only check that is run; all are where it is empty.
    """

    task: str
    kind: str
    name: str
    check: str = ""


def cases(task: str, check: str = "") -> Iterator[Case]:
    """Reconstructions, mutants and twins of a task; those of which a check says something."""
    for folder in sorted(ROOT.glob(f"submissions/*/{task}")):
        yield Case(task, "submissions", folder.parent.name, check)
    if (tests := ROOT / "tests/checks/tasks" / task).is_dir():
        for specimen in specimens(tests, load_task(task)):
            if not check or check in specimen.expected:
                yield Case(task, "mutants" if specimen.wrong else "twins", specimen.name, check)


def verdicts(case: Case, seed: int) -> dict[str, str]:
    """Check id → verdict, with ``!`` behind one that is wrong for a specimen."""
    task = load_task(case.task)
    if case.kind == "submissions":
        submission = Submission.at(ROOT / "submissions" / case.name / case.task, bindings=ROOT / "bindings")
        checks = [case.check] if case.check else [one.id for one in task.checks if one.id != "own_tests"]
        return {name: str(o.verdict) for name, o in judge(task, submission, seed=seed, checks=checks).items()}
    (specimen,) = [
        each
        for each in specimens(ROOT / "tests/checks/tasks" / case.task, task)
        if each.name == case.name and each.wrong == (case.kind == "mutants")
    ]
    return {
        name: f"{o.verdict}{'' if o.verdict in specimen.expected[name] else '!'}"
        for name, o in judged(specimen, task, seed=seed, checks=[case.check] * bool(case.check)).items()
    }


def logged(path: Path | None) -> dict[tuple[Case, int], dict[str, str]]:
    """What an earlier run wrote down."""
    if path is None or not path.exists():
        return {}
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {(Case(*line["case"]), line["seed"]): line["verdicts"] for line in lines}


def judged_all(
    chosen: Sequence[Case], seeds: Iterable[int], log: Path | None
) -> Iterator[tuple[Case, int, dict[str, str]]]:
    """Every case under every seed, as it comes."""
    known = logged(log)
    wanted = [(case, seed) for seed in seeds for case in chosen]
    for case, seed in wanted:
        if (case, seed) in known:
            yield case, seed, known[case, seed]
    with ProcessPoolExecutor(2) as pool:
        jobs = {pool.submit(verdicts, *each): each for each in wanted if each not in known}
        for done, job in enumerate(as_completed(jobs), 1):
            case, seed = jobs[job]
            found = job.result()
            if log is not None:
                line = json.dumps({"case": astuple(case), "seed": seed, "verdicts": found})
                with log.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
            if sys.stderr.isatty():
                print(f"\r{done}/{len(jobs)}", end="", file=sys.stderr)
            yield case, seed, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", action="append", choices=task_names())
    parser.add_argument("--only", action="append", help="names of submissions, mutants or twins")
    parser.add_argument("--check", default="", help="run this check alone")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--log", type=Path, help="file that verdicts are kept in, to go on from")
    options = parser.parse_args()
    chosen = [
        case
        for task in options.task or task_names()
        for case in cases(task, options.check)
        if not options.only or case.name in options.only
    ]
    seen: dict[Case, dict[str, dict[str, list[int]]]] = {case: {} for case in chosen}
    begun = time.monotonic()
    for case, seed, found in judged_all(
        chosen, range(options.first, options.first + options.seeds), options.log
    ):
        for check, verdict in found.items():
            seen[case].setdefault(check, {}).setdefault(verdict, []).append(seed)
    bad = 0
    for case, checks in seen.items():
        for check, found in checks.items():
            if len(found) > 1 or any(verdict.endswith("!") for verdict in found):
                bad += 1
                told = ", ".join(f"{verdict} at seed {seeds[:5]}" for verdict, seeds in found.items())
                print(f"{case.task}/{case.kind}/{case.name} · {check}: {told}")
    print(
        f"{len(chosen)} submissions, {options.seeds} seeds: {bad} verdicts differ or are wrong "
        f"({time.monotonic() - begun:.0f} s)"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
