"""Spells right submissions otherwise, and tells which check then fails them.

    python -m tools.spellings [--task kv]... [--rights 12] [--each 2] [--seed 1] [--only NAME] [--log FILE]

A right submission stays right whatever its parameters are called, in which form it returns its results, in
which class or order its functions stand, and what stands beside them. So a ``fail`` or an ``error`` that it
did not have before is the judge's. ``unbound`` is none, and is counted: how often the binder does not know a
spelling. Exits 1 where a right one fails. With ``--log`` each result is written down as it comes, and what is
in there is not tried again.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from judge_tui.checks.generic import GENERIC
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Verdict
from tools.holes.machine import TASKS, Right, rights
from tools.spellings.ways import WAYS, prepared

__all__ = ["Spelt", "main", "respelt", "tried"]

_MOST_WAYS = 3
#: What says nothing of answers.
_ASIDE = {check.id for check in GENERIC} - {"purity"}
_WRONG = (Verdict.FAIL, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class Spelt:
    """What became of a right submission that was spelt otherwise.

    Attributes:
        task: Id of its task.
        name: Its name.
        number: Which of its spellings.
        ways: What was done to it.
        wronged: The verdicts that it does not have as it was, ``check verdict: summary`` each.
        unbound: Checks that it is unbound for, and was not.
        source: How it is spelt.
        seconds: What it took.
    """

    task: str
    name: str
    number: int
    ways: tuple[str, ...]
    wronged: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()
    source: str = ""
    seconds: float = 0.0


def respelt(source: str, task: str, chance: Random) -> tuple[str, tuple[str, ...]]:
    """A source spelt otherwise in one to three ways, and which; as it is where no way applies.

    Raises:
        SyntaxError: It is not Python.
    """
    made: list[str] = []
    current = source
    for way in sorted(chance.sample(WAYS, k=4), key=WAYS.index):
        tree = way(prepared(current), chance, task) if len(made) < _MOST_WAYS else None
        if tree is not None:
            current = f"{ast.unparse(ast.fix_missing_locations(tree))}\n"
            made.append(way.__name__)
    return current, tuple(made)


def tried(right: Right, number: int, seed: int) -> Spelt | None:
    """Judge one spelling of a right submission; ``None`` where no way applies.

    Args:
        right: It, one file.
        number: Which spelling.
        seed: Of the spelling, with ``number``, and of the inputs of the verdicts.
    """
    begun = time.monotonic()
    chance = Random(zlib.crc32(f"{seed} {number} {right.name}".encode()))
    source, ways = respelt(right.path.read_text("utf-8"), right.task, chance)
    if not ways:
        return None
    now = _verdicts(right, source, seed)
    unbound: tuple[str, ...] = ()
    wronged = {check: one for check, one in now.items() if one[0] in _WRONG}
    if wronged or any(verdict is Verdict.UNBOUND for verdict, _said in now.values()):
        before = _verdicts(right, right.path.read_text("utf-8"), seed)
        wronged = {check: one for check, one in wronged.items() if before[check][0] not in _WRONG}
        unbound = tuple(
            check
            for check, (verdict, _said) in now.items()
            if verdict is Verdict.UNBOUND and before[check][0] is not Verdict.UNBOUND
        )
    told = tuple(f"{check} {verdict}: {said}" for check, (verdict, said) in wronged.items())
    return Spelt(
        right.task, right.name, number, ways, told, unbound, source if wronged or unbound else "",
        round(time.monotonic() - begun, 1),
    )  # fmt: skip


def _verdicts(right: Right, source: str, seed: int) -> dict[str, tuple[Verdict, str]]:
    """Check id → verdict and summary, of the task's own checks."""
    task = load_task(right.task)
    asked = [
        check.id for check in task.checks if check.id not in {one.id for one in GENERIC} | {"throughput"}
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "somebody", right.task)
        folder.mkdir(parents=True)
        folder.joinpath("solution.py").write_text(source, "utf-8")
        outcomes = judge(task, Submission.at(folder), seed=seed, checks=asked)
    return {check: (one.verdict, one.summary) for check, one in outcomes.items()}


def main() -> int:
    """Try the spellings, and tell what is wronged and a table.

    Returns:
        The exit status: 1 where a right submission fails.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.spellings", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--rights", type=int, default=12, help="right submissions of each task")
    parser.add_argument("--each", type=int, default=2, help="spellings of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="names of right submissions")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", type=Path, help="file that results are kept in, to go on from")
    options = parser.parse_args()
    chosen = [
        right
        for task in options.task or TASKS
        for right in [
            one
            for one in rights(task)
            if one.path.is_file() and (not options.only or one.name in options.only)
        ][: options.rights]
    ]
    found = list(_tried_all(chosen, options))
    for one in found:
        for told in one.wronged:
            print(f"{one.task}/{one.name} {one.number} ({', '.join(one.ways)}): {told}")
    print(_table(found))
    return 1 if any(one.wronged for one in found) else 0


def _tried_all(chosen: Sequence[Right], options: argparse.Namespace) -> Iterator[Spelt]:
    log: Path | None = options.log
    done = {}
    if log is not None and log.exists():
        lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        done = {(each["task"], each["name"], each["number"]): Spelt(**each) for each in lines}
    waiting = []
    for right in chosen:
        for number in range(options.each):
            key = (right.task, right.name, number)
            if key in done:
                yield done[key]
            else:
                waiting.append((right, number))
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(tried, right, number, options.seed) for right, number in waiting]
        for count, job in enumerate(as_completed(jobs), 1):
            one = job.result()
            if one is None:
                continue
            if log is not None:
                with log.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(asdict(one))}\n")
            print(
                f"{count}/{len(jobs)} {one.task}/{one.name} {len(one.wronged)}", file=sys.stderr, flush=True
            )
            yield one


def _table(found: Iterable[Spelt]) -> str:
    """Task × what became of its spellings, in Markdown."""
    counts: dict[str, Counter[str]] = {}
    for one in found:
        count = counts.setdefault(one.task, Counter())
        count["spellings"] += 1
        count["wronged"] += bool(one.wronged)
        count["unbound"] += bool(one.unbound) and not one.wronged
    lines = ["| task | spellings | failed wrongly | unbound |", "|---|---:|---:|---:|"]
    lines += [
        f"| {task} | {n['spellings']} | {n['wronged']} | {n['unbound']} |" for task, n in counts.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
