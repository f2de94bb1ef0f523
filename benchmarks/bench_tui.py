"""The screen on a real pseudo-terminal: start, key to frame, search, typing, memory; medians, p95 and ratios.

    python benchmarks/bench_tui.py [--runs 7]

Ratios are against a bare Textual app, a bare Python, vim -d or grep, on the same machine in the same run.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

from loop_turns import longest
from pseudo_terminal import Terminal, first_frame, keys, p95

ROOT = Path(__file__).parents[1]

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    BINDINGS = [("j", "next")]
    count = 0
    def compose(self):
        yield Static("FIRST-FRAME 0")
    def action_next(self):
        self.count += 1
        self.query_one(Static).update(f"FIRST-FRAME {self.count}")
Bare().run()
"""

COMPARE = """
import sys
from pathlib import Path
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import run_compare
workspace = Workspace.find(explicit=Path(sys.argv[1]))
submissions = [workspace.submission(model, "kv") for model in sys.argv[2:]]
run_compare(workspace=workspace, submissions=submissions, judge="bench")
"""

#: Rounds of scrolling; each has all programs in turn.
ROUNDS = 3
#: The same, which tells how long its event loop was held.
WATCHED = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import loop_turns
loop_turns.watch(os.environ["JUDGE_TUI_TURNS"])
{COMPARE}"""
#: Rows and columns of a large screen.
LARGE = (100, 300)

LINE = [b"j"] * 120
PAGE = [b"\x04", b"\x04", b"\x15"] * 30
#: vim's cursor moves within the window first; this scrolls it by a line from the first key on.
VIM_LINE = [b"\x05"] * 120
TYPED = b"the cache holds keys and values twice, "
#: What is searched for; its last letter is typed when the clock starts.
SEARCHED = b"def step_1999"
#: vim as its users have it: 24-bit colours by syntax, line numbers, and nothing folded away, so that all
#: three windows scroll the code that our panes scroll. ``-u NONE`` on equal files redraws one folded row.
VIM = ("--clean", "-n", "--cmd", "set termguicolors number diffopt+=context:999999", "-d")
#: Shares of functions that a model has written otherwise, not at all, and with a class behind them.
CHANGED, MISSING, MORE = 0.12, 0.04, 0.04


class Lines:
    """The lines that are printed; knows how many were over their limits."""

    def __init__(self) -> None:
        self.out = 0

    def say(self, what: str, value: str, against: str, limit: str, fine: bool) -> None:
        self.out += not fine
        print(f"{'ok ' if fine else 'OUT'} {what:<46} {value:>10}   {against:<34} limit {limit}", flush=True)


def workspace(root: Path, models: tuple[str, ...], lines: int) -> Path:
    """A workspace with a file of so many lines per model, no two of them the same."""
    (root / "scores").mkdir(parents=True)
    for model in models:
        folder = root / "submissions" / model / "kv"
        folder.mkdir(parents=True)
        functions = islice(code(model), lines // 5)
        (folder / "kv_cache.py").write_text("".join(functions))
    return root


def code(model: str) -> Iterator[str]:
    """Functions of five lines each, as one model has written them."""
    chance = random.Random(model)
    for n in count():
        drawn = chance.random()
        if drawn < MISSING:
            continue
        if drawn < MISSING + CHANGED:
            yield (
                f"# FIRST-FRAME\ndef step_{n}(cache, query, *, scale=None):\n"
                f"    scores = cache.read({n}, axis=-1) @ query * (scale or 1 / sqrt(query.shape[-1]))\n"
                f'    return attend(scores, cache.values[{n}], mask="{model}")\n\n'
            )
            continue
        yield (
            f"# FIRST-FRAME\ndef step_{n}(cache, query):\n    scores = query @ cache.keys[{n}].T\n"
            f'    return softmax(scores) @ cache.values[{n}] + float("{n}.5")\n\n'
        )
        if drawn > 1 - MORE:
            yield (
                f"class Rows{n}_{model}:\n    # what {model} adds\n"
                "    def __init__(self, rows):\n        self.rows = list(rows)\n\n"
            )


def seconds_of(*argv: str) -> float:
    """Seconds that a program takes."""
    begun = time.perf_counter()
    # a pipe: grep stops at its first hit when nobody can read the rest
    subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    return time.perf_counter() - begun


def start(lines: Lines, runs: int, two: Path, few: Path, many: Path, most: Path) -> None:
    """First frame with code: two small files, three of 100, of 10,000 and of 100,000 lines."""
    bare: list[float] = []
    apps: dict[Path, list[float]] = {two: [], few: [], many: [], most: []}
    first_frame("-c", COMPARE, str(two), "a", "b")
    for _ in range(runs):
        bare.append(first_frame("-c", BARE))
        for place, times in apps.items():
            times.append(first_frame("-c", COMPARE, str(place), *_models(place)))
    base = statistics.median(bare)
    for what, place, most_of_bare in (
        ("first frame with code", two, 1.75),
        ("first frame, 3 x 10,000 lines", many, 2),
    ):
        taken = statistics.median(apps[place])
        against = f"{taken / base:.2f} x bare Textual ({base:.3f} s)"
        lines.say(what, f"{taken:.3f} s", against, f"{most_of_bare} x", taken <= most_of_bare * base)
    small, large = statistics.median(apps[few]), statistics.median(apps[most])
    against = f"{large / small:.2f} x 3 x 100 lines ({small:.3f} s)"
    lines.say("first frame, 3 x 100,000 lines", f"{large:.3f} s", against, "1.5 x", large <= 1.5 * small)


def scroll(lines: Lines, many: Path) -> None:
    """Key to frame, alone and together, against a bare app and vim -d: medians of the p95 of some rounds.

    Each round has all of them in turn: one round of a busy minute would be set beside one of a calm minute.
    """
    app = (sys.executable, "-c", COMPARE, str(many), *_models(many))
    vim = shutil.which("vim")
    diff = (*VIM, *(str(file) for file in sorted(many.glob("submissions/*/kv/*.py"))))
    idle: list[float] = []
    theirs: dict[str, list[float]] = {"line": [], "page": []}
    ours: dict[tuple[str, str], list[float]] = {}
    for _ in range(ROUNDS):
        idle.append(p95(keys((sys.executable, "-c", BARE), LINE[:60])))
        for name, sent, in_vim in (("line", LINE, VIM_LINE), ("page", PAGE, PAGE)):
            if vim:
                theirs[name].append(p95(keys((vim, *diff), in_vim, shows=b"FIRST")))
            for how, before in (("", b"j"), ("together, ", b"y")):
                ours.setdefault((how, name), []).append(p95(keys(app, sent, before=before)))
    bare = statistics.median(idle)
    for (how, name), times in ours.items():
        taken = statistics.median(times)
        against = f"{taken / bare:.2f} x bare Textual ({bare:.1f} ms)"
        what = f"{how}{name} scroll, 3 x 10,000 lines, p95"
        lines.say(what, f"{taken:.1f} ms", against, "16 ms", taken <= 16)
        if vim:
            other = statistics.median(theirs[name])
            against = f"{taken / other:.2f} x vim -d ({other:.1f} ms)"
            lines.say("", f"{taken:.1f} ms", against, "2 x", taken <= 2 * other)
    if not vim:
        print("skip scrolling against vim -d: vim is not installed")


def hold(lines: Lines, many: Path) -> None:
    """How long a held key holds the event loop on a large screen: panes alone, and moving together."""
    for what, together in (("panes alone", b""), ("by line", b"y"), ("by function", b"yy")):
        with tempfile.TemporaryDirectory() as folder:
            turns = os.environ["JUDGE_TUI_TURNS"] = str(Path(folder, "turns"))
            terminal = Terminal(sys.executable, "-c", WATCHED, str(many), *_models(many), size=LARGE)
            try:
                terminal.first(b"FIRST-FRAME")
                terminal.calm(1.5)
                # a page down: from there on every key scrolls
                for key in together + b"100j":
                    terminal.key(bytes([key]))
                terminal.calm(2.5)
                Path(turns).unlink(missing_ok=True)
                terminal.calm(0.5)
                terminal.hold(b"j", 150)
                taken, clock = longest(turns)
            finally:
                terminal.close()
        against = f"by the clock {clock:.1f} ms"
        lines.say(
            f"j held at 300 x 100, {what}: longest turn", f"{taken:.1f} ms", against, "16 ms", taken <= 16
        )


def search(lines: Lines, runs: int, most: Path) -> None:
    """From the last letter of a query until all three panes say how often it is there."""
    files = sorted(most.glob("submissions/*/kv/*.py"))
    counts = [file.read_bytes().count(SEARCHED) for file in files]
    terminal = Terminal(sys.executable, "-c", COMPARE, str(most), *_models(most))
    try:
        terminal.first(b"FIRST-FRAME")
        terminal.calm(1.5)
        # what a file of this size is made of is read in seconds, and takes half of the interpreter
        terminal.rest()
        terminal.key(b"/")
        terminal.key(SEARCHED[:-1])
        # the cursor blinks every half second
        terminal.calm(0.3)
        found = "".join(rf"{letter} {n}\b.*" for letter, n in zip("ABC", counts, strict=True)).encode()
        times = []
        for _ in range(runs):
            times.append(terminal.answer(SEARCHED[-1:], found))
            terminal.calm(0.2)
            terminal.key(b"\x7f")
            terminal.calm(0.2)
        taken = statistics.median(times)
    finally:
        terminal.close()
    grep = statistics.median(
        seconds_of("grep", "-n", SEARCHED.decode(), *map(str, files)) for _ in range(runs)
    )
    against = f"{taken / grep:.2f} x grep -n ({grep * 1000:.1f} ms)"
    lines.say("search, 3 x 100,000 lines", f"{taken * 1000:.1f} ms", against, "3 x", taken <= 3 * grep)


def typing(lines: Lines, folder: Path) -> None:
    """A comment is typed while checks run on all processors, and while none does."""
    shutil.copytree(ROOT / "submissions", folder / "submissions")
    (folder / "scores").mkdir()
    opened: list[float] = []
    times: list[float] = []
    try:
        for number in range(ROUNDS):
            # what was found before is remembered, and nothing would be left to run
            os.environ["XDG_CACHE_HOME"] = str(folder / f"cache {number}")
            _comment(folder, lambda terminal: terminal.until(b"running", terminal.started), opened, times)
        quiet: list[float] = []
        _comment(folder, lambda terminal: terminal.rest(), [], quiet)
    finally:
        del os.environ["XDG_CACHE_HOME"]
    first = statistics.median(opened)
    lines.say("the editor opens while checks start", f"{first:.0f} ms", "", "100 ms", first <= 100)
    for what, taken in (("while checks run", times), ("while none does", quiet)):
        against = f"median {statistics.median(taken):.1f} ms"
        value = p95(taken)
        lines.say(f"typing a comment {what}, p95", f"{value:.1f} ms", against, "8 ms", value <= 8)


def _comment(
    folder: Path, ready: Callable[[Terminal], object], opened: list[float], times: list[float]
) -> None:
    """Open the editor and type, and say the milliseconds of both."""
    terminal = Terminal(sys.executable, "-c", COMPARE, str(folder), "glm5", "qwen36")
    try:
        terminal.first(b"kv_cache")
        ready(terminal)
        terminal.key(b"s")
        opened.append(terminal.answer(b"\r", b"saved as you type") * 1000)
        for end in range(1, len(TYPED) + 1):
            times.append(terminal.answer(TYPED[end - 1 : end], _ending(TYPED[:end])) * 1000)
            terminal.calm(0.03)
    finally:
        terminal.close()


def _ending(text: bytes) -> bytes:
    """Expression for the end of a text on the screen, where a line may end at a space."""
    return b"(?s:.{0,80}?)".join(map(re.escape, text[-8:].rstrip().split(b" ")))


def memory(lines: Lines, most: Path) -> None:
    """Memory with three files of 100,000 lines, coloured and scrolled."""
    terminal = Terminal(sys.executable, "-c", BARE)
    terminal.first(b"FIRST-FRAME")
    bare = terminal.resident()
    terminal.close()
    terminal = Terminal(sys.executable, "-c", COMPARE, str(most), *_models(most))
    try:
        terminal.first(b"FIRST-FRAME")
        terminal.calm(3.0)
        for key in PAGE:
            terminal.key(key)
        taken = terminal.resident()
    finally:
        terminal.close()
    source = sum(file.stat().st_size for file in most.glob("submissions/*/kv/*.py"))
    allowed = 3 * bare + 6 * source
    against = f"bare {bare >> 20} MiB, sources {source >> 20} MiB"
    fine = taken <= allowed
    lines.say("memory, 3 x 100,000 lines", f"{taken >> 20} MiB", against, f"{allowed >> 20} MiB", fine)


def helped(lines: Lines, runs: int) -> None:
    """What the help of the command line costs beyond Python."""
    python = statistics.median(seconds_of(sys.executable, "-c", "pass") for _ in range(runs))
    taken = statistics.median(
        seconds_of(sys.executable, "-P", "-m", "judge_tui.cli", "--help") for _ in range(runs)
    )
    against = f"{taken / python:.1f} x python -c pass ({python:.3f} s)"
    lines.say("judge-tui --help", f"{taken:.3f} s", against, "+0.15 s", taken - python <= 0.15)


def _models(place: Path) -> list[str]:
    return sorted(folder.name for folder in place.glob("submissions/*"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    lines = Lines()
    with tempfile.TemporaryDirectory() as folder:
        two = workspace(Path(folder, "two"), ("a", "b"), 400)
        few, many, most = (
            workspace(Path(folder, str(count)), ("a", "b", "c"), count) for count in (100, 10_000, 100_000)
        )
        start(lines, runs, two, few, many, most)
        scroll(lines, many)
        hold(lines, many)
        search(lines, runs, most)
        typing(lines, Path(folder, "real"))
        memory(lines, most)
    helped(lines, runs)
    return 1 if lines.out else 0


if __name__ == "__main__":
    sys.exit(main())
