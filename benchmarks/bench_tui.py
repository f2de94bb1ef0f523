"""The screen on a real pseudo-terminal: start, first frame, key to frame; medians, p95 and ratios.

    python benchmarks/bench_tui.py [--runs 7]

Ratios are against a bare Textual app, or a bare Python, on the same machine in the same run.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

SIZE = (45, 160)
QUIET_S = 0.006

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


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, *argv: str) -> None:
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            with tempfile.TemporaryDirectory() as state:
                env = os.environ | {
                    "TERM": "xterm-256color",
                    "COLORTERM": "truecolor",
                    "XDG_STATE_HOME": state,
                }
                os.execve(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))

    def read(self, timeout_s: float) -> bytes:
        """What the program wrote within a time."""
        if not select.select([self.fd], [], [], timeout_s)[0]:
            return b""
        try:
            return os.read(self.fd, 1 << 16)
        except OSError:
            return b""

    def first(self, needle: bytes) -> float:
        """Seconds from start until a text is on the screen."""
        seen = b""
        while needle not in seen:
            seen += self.read(1.0)
            if time.perf_counter() - self.started > 30:
                raise SystemExit(f"never seen: {needle!r}")
        return time.perf_counter() - self.started

    def calm(self, seconds: float) -> None:
        """Wait until nothing is written for a while."""
        quiet = time.perf_counter()
        while time.perf_counter() - quiet < seconds:
            if self.read(0.05):
                quiet = time.perf_counter()

    def key(self, key: bytes) -> float:
        """Seconds from a key to the last byte of the frame that answers it."""
        begun = time.perf_counter()
        os.write(self.fd, key)
        last = begun
        while True:
            data = self.read(1.0 if last == begun else QUIET_S)
            if not data:
                return last - begun
            last = time.perf_counter()

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def workspace(root: Path, models: tuple[str, ...], lines: int) -> Path:
    """A workspace with a file of so many lines per model."""
    (root / "scores").mkdir(parents=True)
    body = "".join(
        f"# FIRST-FRAME\ndef step_{n}(cache, query):\n    scores = query @ cache.keys[{n}].T\n"
        f'    return softmax(scores) @ cache.values[{n}] + float("{n}.5")\n\n'
        for n in range(lines // 5)
    )
    for model in models:
        folder = root / "submissions" / model / "kv"
        folder.mkdir(parents=True)
        (folder / "kv_cache.py").write_text(body)
    return root


def first_frame(*argv: str) -> float:
    """Seconds to the first frame with text."""
    terminal = Terminal(sys.executable, *argv)
    try:
        return terminal.first(b"FIRST-FRAME")
    finally:
        terminal.close()


def keys(argv: tuple[str, ...], sent: list[bytes]) -> list[float]:
    """Milliseconds from key to frame, per key."""
    terminal = Terminal(sys.executable, *argv)
    try:
        terminal.first(b"FIRST-FRAME")
        # until colours, stored verdicts and the engine's sentence are on the screen
        terminal.calm(1.5)
        terminal.key(b"j")
        times = []
        for key in sent:
            times.append(terminal.key(key) * 1000)
            time.sleep(0.01)
        return times
    finally:
        terminal.close()


def seconds_of(*argv: str) -> float:
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def say(what: str, value: str, against: str, limit: str, ok: bool) -> None:
    print(f"{'ok ' if ok else 'OUT'} {what:<46} {value:>10}   {against:<34} limit {limit}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        two = str(workspace(Path(folder, "small"), ("a", "b"), 400))
        three = str(workspace(Path(folder, "large"), ("a", "b", "c"), 10_000))
        small, large = (COMPARE, two, "a", "b"), (COMPARE, three, "a", "b", "c")
        first_frame("-c", *small)
        bare, app, app_large = ([], [], [])  # type: tuple[list[float], list[float], list[float]]
        for _ in range(runs):
            bare.append(first_frame("-c", BARE))
            app.append(first_frame("-c", *small))
            app_large.append(first_frame("-c", *large))
        base = statistics.median(bare)
        for what, times in (("first frame with code", app), ("first frame, 3 x 10,000 lines", app_large)):
            ratio = statistics.median(times) / base
            bad += ratio > 2.5
            say(
                what,
                f"{statistics.median(times):.3f} s",
                f"{ratio:.2f} x bare Textual ({base:.3f} s)",
                "2.5 x",
                ratio <= 2.5,
            )
        idle = keys(("-c", BARE), [b"j"] * 60)
        for what, sent in (
            ("line scroll, 3 x 10,000 lines, p95", [b"j"] * 120),
            ("page scroll, 3 x 10,000 lines, p95", [b"\x04", b"\x04", b"\x15"] * 30),
            ("together, line scroll, p95", [b"y", *[b"j"] * 120]),
            ("together, page scroll, p95", [b"y", *[b"\x04", b"\x04", b"\x15"] * 30]),
        ):
            times = keys(("-c", *large), sent)[1:]
            bad += p95(times) > 16
            say(
                what,
                f"{p95(times):.1f} ms",
                f"{p95(times) / p95(idle):.2f} x bare Textual ({p95(idle):.1f} ms)",
                "16 ms",
                p95(times) <= 16,
            )
    python = statistics.median(seconds_of(sys.executable, "-c", "pass") for _ in range(runs))
    helped = statistics.median(
        seconds_of(sys.executable, "-m", "judge_tui.cli", "--help") for _ in range(runs)
    )
    bad += helped - python > 0.15
    say(
        "judge-tui --help",
        f"{helped:.3f} s",
        f"{helped / python:.1f} x python -c pass ({python:.3f} s)",
        "+0.15 s",
        helped - python <= 0.15,
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
