"""The real program on a real pseudo-terminal: start, keys, kill -9, and what is left."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace

from .conftest import DYING

PROGRAM = """
import sys
from pathlib import Path
from judge_tui.judging.workspace import Workspace
from judge_tui.tui import app, check_runner
check_runner.EngineOptions.__init__.__kwdefaults__["command"] = (sys.executable, "-c", sys.argv[2])
workspace = Workspace.find(explicit=Path(sys.argv[1]))
submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
sys.exit(app.run_compare(workspace=workspace, submissions=submissions, judge="anna"))
"""
PATIENCE_S = 60.0


class Terminal:
    """A program on a pseudo-terminal of 100×30."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.output = b""
        self.status: int | None = None

    def pump(self, seconds: float) -> None:
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.output += os.read(self.fd, 65536)
            except OSError:
                time.sleep(seconds)

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, self.output[-2000:]
            self.pump(0.02)

    def see(self, text: bytes) -> None:
        self.until(lambda: text in self.output)
        self.output = b""

    def send(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def wait(self) -> int:
        def ended() -> bool:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            return bool(pid)

        self.until(ended)
        assert self.status is not None
        return self.status

    def close(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def start(workspace: Workspace) -> Iterator[Callable[[], Terminal]]:
    terminals: list[Terminal] = []
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}

    def started() -> Terminal:
        terminals.append(Terminal([sys.executable, "-c", PROGRAM, str(workspace.root), DYING], env))
        terminals[-1].see(b"ended unexpectedly")
        return terminals[-1]

    yield started
    for terminal in terminals:
        terminal.close()


def read_when(path: Path, terminal: Terminal, holds: Callable[[str], bool]) -> None:
    terminal.until(lambda: path.exists() and holds(path.read_text()))


def test_what_was_typed_survives_kill_9_and_the_next_start_shows_it(
    workspace: Workspace, start: Callable[[], Terminal]
) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    terminal = start()
    terminal.send(b"jja")
    terminal.see(b"a letter chooses")
    terminal.send(b"w")
    terminal.send(b"half a thou")
    read_when(path, terminal, lambda text: "half a thou" in text)
    terminal.send(b"\x1b")
    terminal.see(b"note on the lines")
    terminal.send(b"s")
    terminal.see(b"Whether decoding")
    terminal.send(b"85")
    read_when(path, terminal, lambda text: "score = 85" in text)
    os.kill(terminal.pid, signal.SIGKILL)
    os.waitpid(terminal.pid, 0)
    terminal.status = -9
    again = start()
    again.send(b"sL")
    again.see(b"half a thou")
    again.send(b"\x1b")
    again.see(b"85")


def test_quitting_at_once_after_a_key_saves_it(workspace: Workspace, start: Callable[[], Terminal]) -> None:
    terminal = start()
    terminal.send(b"s")
    terminal.see(b"Whether decoding")
    terminal.send(b"91q")
    assert terminal.wait() == 0
    assert load_scorecard(workspace.scorecard_path("kv", "alpha", "anna")).score("correctness") == 91


def test_nothing_hostile_reaches_the_terminal(workspace: Workspace, start: Callable[[], Terminal]) -> None:
    hostile = b"\x1b]52;c;SEVMTE8=\x07 \x1b]0;owned\x07 \xe2\x80\xae rtl\n" * 5
    (workspace.root / "submissions" / "alpha" / "kv" / "kv_cache.py").write_bytes(hostile)
    terminal = start()
    terminal.send(b"jjG")
    terminal.send(b"q")
    seen = terminal.output
    assert terminal.wait() == 0
    seen += terminal.output
    assert b"\x1b]52" not in seen
    assert b"\x1b]0;owned" not in seen
    assert "\u202e".encode() not in seen
