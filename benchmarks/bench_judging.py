"""Boards over thousands of scorecards: what a command takes beside reading the same files once.

    python benchmarks/bench_judging.py [MODELS]

A workspace of MODELS × six tasks × five judges (60: 1,800 scorecards of 3 KB; 300 make 9,000) is made in a
temporary folder. What ``home`` prints and what ``export`` writes is timed against the standard library's
reader of TOML over the same scorecards, in one process, in turns; on a quiet machine that reads 9,000 of them
in about 2.5 s. Home on the screen is timed from its start to its first rows with points, against a bare
Textual app; there, and in a workspace of 500 models × eight tasks × three attempts. In that its rows are
scrolled beside the lines of a comparison.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from itertools import islice
from pathlib import Path

from bench_tui import BARE, COMPARE, LINE, code
from pseudo_terminal import Terminal, first_frame, keys, p95

from judge_tui.cli.home import print_matrix
from judge_tui.judging.card import DimensionScore, Scorecard
from judge_tui.judging.export import BEGIN, END
from judge_tui.judging.note import new_note
from judge_tui.judging.publishing import publish
from judge_tui.judging.scorecard import render_scorecard
from judge_tui.judging.workspace import Workspace

TASKS = ("backwards", "beam_search", "flash_attention", "flash_attention_bwd", "fuse", "kv")
JUDGES = 5
NOTES = 5
ROUNDS = 3
CODE = "x = 1\n" * 20
#: Against one reading of all files by the standard library.
LIMITS = {"home": 0.75, "export": 0.9}
#: Against the first frame of a bare Textual app.
MOST_OF_BARE = 2.2
#: The same of very many submissions: 0.5 s where that takes 0.18 s. Against a line further in a comparison.
MOST_OF_MANY, MOST_OF_CODE = 2.8, 1.5
MANY, EIGHT, ATTEMPTS = 500, (*TASKS, "dflash_verify", "ternary_training"), 3
HOME = """
import sys
from pathlib import Path
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import run_home
run_home(workspace=Workspace.find(explicit=Path(sys.argv[1])), judge="judge0")
"""


def made(root: Path, models: int) -> Workspace:
    """A workspace whose scorecards are as long as a judge's are who says why."""
    chance, begun = random.Random(1), datetime(2026, 3, 1, tzinfo=UTC)
    (root / "submissions").mkdir()
    workspace = Workspace.at(root)
    for model in (f"model-{number:03}" for number in range(models)):
        for task in TASKS:
            folder = root / "submissions" / model / task
            folder.mkdir(parents=True)
            (folder / "answer.py").write_text(CODE)
            rubric, digest = workspace.rubric(task), workspace.submission(model, task).digest
            for judge in (f"judge{number}" for number in range(JUDGES)):
                said = "It does this in one place and something else in another, and nobody sees it."
                scores = {
                    dimension.id: DimensionScore(chance.randint(40, 99), said)
                    for dimension in rubric.dimensions
                }
                notes = tuple(
                    new_note("bug", said, file="answer.py", lines=(3, 4), source=CODE) for _ in range(NOTES)
                )
                card = Scorecard(
                    task, model, judge, created=begun, dimensions=scores, notes=notes, summary=said
                ).judged_under(rubric, digest)
                path = workspace.scorecard_path(task, model, judge)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(render_scorecard(card))
    return workspace


def many(root: Path) -> Path:
    """A workspace of very many submissions, every tenth model scored; and two files to compare."""
    (root / "submissions").mkdir(parents=True)
    workspace = Workspace.at(root)
    for number in range(MANY):
        for task in EIGHT:
            for attempt in range(1, ATTEMPTS + 1):
                name = task if attempt == 1 else f"{task}@{attempt}"
                folder = root / "submissions" / f"model-{number:03}" / name
                folder.mkdir(parents=True)
                (folder / "answer.py").write_text(
                    f"x = {number}\n" if number else "".join(islice(code(name), 2000))
                )
            if number % 10 == 0:
                card = Scorecard(task, f"model-{number:03}", "judge0", overall=50 + number // 10)
                path = workspace.scorecard_path(task, card.model, card.judge)
                path.parent.mkdir(parents=True)
                path.write_text(render_scorecard(card))
    return root


def scrolled(root: Path) -> tuple[list[float], list[float]]:
    """Milliseconds from a key to the frame with the next row, of Home and of a comparison."""
    rows = keys((sys.executable, "-c", HOME, str(root)), LINE, shows=rb"reading [1-9]\d*/")
    two = ("model-000", "model-000@2")
    lines = keys((sys.executable, "-c", COMPARE, str(root), *two), LINE)
    return rows, lines


def home(root: Path) -> None:
    with redirect_stdout(StringIO()):
        print_matrix(Workspace.at(root))


def first_rows(root: Path) -> float:
    """Seconds until Home shows its first rows with what is in them."""
    terminal = Terminal(sys.executable, "-c", HOME, str(root))
    try:
        return terminal.first(rb"reading [1-9]\d*/")
    finally:
        terminal.close()


def seconds(job: Callable[[], object]) -> float:
    begun = time.perf_counter()
    job()
    return time.perf_counter() - begun


def main() -> int:
    models = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory() as folder:
        workspace = made(Path(folder), models)
        readme = workspace.root / "README.md"
        readme.write_text(f"{BEGIN}\n{END}\n")
        cards = sorted((workspace.root / "scores").rglob("*.toml"))
        jobs: dict[str, Callable[[], object]] = {
            "read": lambda: [tomllib.loads(path.read_text("utf-8")) for path in cards],
            "home": lambda: home(workspace.root),
            "export": lambda: publish(readme, Workspace.at(workspace.root), write=False),
        }
        took = {name: min(seconds(job) for _ in range(ROUNDS)) for name, job in jobs.items()}
        bare = min(first_frame("-c", BARE) for _ in range(ROUNDS))
        rows = min(first_rows(workspace.root) for _ in range(ROUNDS))
        large = many(Path(folder) / "large")
        of_many = min(first_rows(large) for _ in range(ROUNDS))
        down, code_down = scrolled(large)
    bad = 0
    print(f"{len(cards)} scorecards; the standard library reads them in {took['read']:.2f} s")
    for name, limit in LIMITS.items():
        ratio = took[name] / took["read"]
        ok = ratio <= limit
        bad += not ok
        told = f"{name:<10} {took[name]:6.2f} s  {ratio:5.2f} × one such reading, at most {limit:g}"
        print(f"{'ok ' if ok else 'OUT'} {told}")
    for name, took_s, limit in (("first rows", rows, MOST_OF_BARE), ("of 12,000", of_many, MOST_OF_MANY)):
        ok = took_s <= limit * bare
        bad += not ok
        told = f"{name:<10} {took_s:6.2f} s  {took_s / bare:5.2f} × a bare Textual app, at most {limit:g}"
        print(f"{'ok ' if ok else 'OUT'} {told}")
    ratio = p95(down) / p95(code_down)
    bad += not (ok := ratio <= MOST_OF_CODE)
    told = f"{'scrolled':<10} {p95(down):5.1f} ms  {ratio:5.2f} × a line of code, at most {MOST_OF_CODE:g}"
    print(f"{'ok ' if ok else 'OUT'} {told}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
