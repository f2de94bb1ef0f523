"""One-edit mutants of right answers to challenges of one's own: which ones does no check see?

    python -m tools.holes.own [CHALLENGES] [--rights 3] [--edits 8] [--seed 1] [--only NAME]

``CHALLENGES`` is a folder of challenges with ``right/``; the corpus of the tests by default. What passes
under one seed is judged under others; what passes all of them is listed, to be read: it is equal to the
right answer, or a hole of the challenge. ``alike.toml`` keeps the reasons of those that were read. Exits 1
where one has none.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from judge_tui.checks.challenges.task import made
from judge_tui.checks.repair.slips import edits
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.challenges.found import CHALLENGES, challenge_of

__all__ = ["main"]

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/checks/challenges/corpus"
_ALIKE = Path(__file__).with_name("alike.toml")
#: Seeds under which a survivor is judged again.
_MORE = range(101, 109)
_GOOD = (Verdict.PASS, Verdict.SKIP)
_BESIDE = frozenset({"size", "own_tests", "throughput"})


def main() -> int:
    """Try the edits, and tell those that no check sees.

    Returns:
        The exit status: 1 where one of them has no reason.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.holes.own", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("challenges", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--rights", type=int, default=3, help="right answers of each challenge")
    parser.add_argument("--edits", type=int, default=8, help="edits of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="names of challenges")
    options = parser.parse_args()
    names = [folder.name for folder in sorted(options.challenges.iterdir()) if (folder / "right").is_dir()]
    jobs = [
        (options.challenges, name, options.rights, options.edits, options.seed)
        for name in names
        if not options.only or name in options.only
    ]
    known = {each["edit"]: each["why"] for each in tomllib.loads(_ALIKE.read_text("utf-8")).get("alike", [])}
    open_, counts = 0, Counter[str]()
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(_tried, *zip(*jobs, strict=True)):
            for edit, caught in found:
                counts["caught" if caught else "explained" if edit in known else "open"] += 1
                if not caught and edit not in known:
                    open_ += 1
                    print(edit, flush=True)
    print(f"{counts.total()} edits: " + ", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if open_ else 0


def _tried(challenges: Path, name: str, rights: int, each: int, seed: int) -> list[tuple[str, str]]:
    """The edits of some right answers, and by what each was caught."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        shutil.copytree(challenges / name, root / CHALLENGES / name)
        challenge = challenge_of(root, name)
        assert challenge is not None
        task = made(challenge)
        # edits are of Python
        written = (each for each in (root / CHALLENGES / name / "right").iterdir() if any(each.rglob("*.py")))
        answers = sorted(written)[:rights]
        return [one for answer in answers for one in _of_answer(task, answer, root, each, seed)]


def _of_answer(task: Task, answer: Path, root: Path, each: int, seed: int) -> Iterator[tuple[str, str]]:
    sources = [
        (file, edit) for file in sorted(answer.rglob("*.py")) for edit in edits(file.read_text("utf-8"))
    ]
    chosen = sorted(sources, key=lambda pair: zlib.crc32(f"{seed}{pair[0].name}{pair[1]}".encode()))[:each]
    usual = _verdicts(task, answer, seed)
    for number, (file, edit) in enumerate(chosen):
        folder = root / "edited" / f"{answer.name}-{number}"
        shutil.copytree(answer, folder)
        folder.joinpath(file.relative_to(answer)).write_text(edit.source, "utf-8")
        seeds = (seed, *_MORE)
        caught = next(filter(None, (_caught(task, folder, one, usual) for one in seeds)), "")
        yield f"{task.id}/{answer.name}/{file.name}:{edit}", caught


def _verdicts(task: Task, folder: Path, seed: int) -> dict[str, Verdict]:
    wanted = [check.id for check in task.checks if check.id not in _BESIDE]
    found = judge(task, Submission("edited", task.id, folder), seed=seed, checks=wanted)
    return {check: outcome.verdict for check, outcome in found.items()}


def _caught(task: Task, folder: Path, seed: int, usual: dict[str, Verdict]) -> str:
    """The first check whose verdict is worse than the right answer's."""
    found = _verdicts(task, folder, seed)
    return next((f"{c}: {v}" for c, v in found.items() if v not in _GOOD and v is not usual[c]), "")


if __name__ == "__main__":
    sys.exit(main())
