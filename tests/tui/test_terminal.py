"""The real program on a real pseudo-terminal: start, keys, kill -9, and what is left."""

from __future__ import annotations

import fcntl
import os
import pty
import re
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

from .conftest import DYING, HANGING
from .served import family, running

PROGRAM = """
import sys
from pathlib import Path
from judge_tui.judging.workspace import Workspace
from judge_tui.tui import app
from judge_tui.tui.engine import check_runner
check_runner.EngineOptions.__init__.__kwdefaults__["command"] = (sys.executable, "-c", sys.argv[2])
workspace = Workspace.find(explicit=Path(sys.argv[1]))
submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
sys.exit(app.run_compare(workspace=workspace, submissions=submissions, judge="anna"))
"""
PATIENCE_S = 60.0


class Terminal:
    """A program on a pseudo-terminal of 100×30."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        # snapshots leave their sizes there, and programs believe them
        env = {name: value for name, value in env.items() if name not in ("COLUMNS", "LINES")}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # ignored where the tests run under nohup
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            os.execve(argv[0], argv, env)
        self.resize(100, 30)
        self.output = b""
        self.status: int | None = None

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

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

    def reach(self, text: bytes) -> None:
        """See a text, and keep what came after it."""
        self.until(lambda: text in self.output)
        self.output = self.output.partition(text)[2]

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

    def hang_up(self) -> int:
        """Take the terminal away; how the program ends."""
        os.close(self.fd)
        # nothing is read any more
        self.fd = os.open(os.devnull, os.O_RDWR)
        return self.wait()

    def close(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def in_a_shell(script: Path, program: str, *arguments: str) -> Terminal:
    """A program as a job of a shell, which takes over when the program is stopped."""
    script.write_text(f"import sys\nsys.argv[1:] = {list(arguments)!r}\n{program}")
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "JUDGE_TUI_JUDGE": "anna"}
    env |= {"PS1": "$ ", "ENV": "", "PYTHON": sys.executable, "SCRIPT": str(script)}
    terminal = Terminal(["/bin/sh", "-im"], env)
    terminal.send(b'"$PYTHON" "$SCRIPT"\n')
    return terminal


def stop_and_go_on(terminal: Terminal) -> None:
    """Ctrl+Z to the shell, a command there, and back by ``fg``."""
    terminal.send(b"\x1a")
    terminal.reach(b"\x1b[?1049l")
    terminal.reach(b"Stopped")
    terminal.reach(b"$ ")
    terminal.send(b"echo $((6 * 7)) lines\n")
    terminal.reach(b"42 lines")
    terminal.send(b"fg\n")
    terminal.reach(b"\x1b[?1049h")


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
    terminal.see(b"saved as you type")
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


def test_bytes_that_are_no_text_end_nothing_and_type_nothing(
    workspace: Workspace, start: Callable[[], Terminal]
) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    terminal = start()
    terminal.send(b"a")
    terminal.see(b"saved as you type")
    terminal.send(b"one\xff\xfe\xc3 two \xed\xa0\x80 three \xc3\xa9")
    read_when(path, terminal, lambda text: "one two  three é" in text)


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


def test_ctrl_z_leads_to_the_shell_and_fg_comes_back(workspace: Workspace, tmp_path: Path) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    terminal = in_a_shell(tmp_path / "program.py", PROGRAM, str(workspace.root), DYING)
    try:
        terminal.see(b"ended unexpectedly")
        terminal.send(b"s8")
        read_when(path, terminal, lambda text: "score = 8" in text)
        stop_and_go_on(terminal)
        # all of it is drawn again, and keys go on where they were
        terminal.until(lambda: b"class" in terminal.output and b"Whether decoding" in terminal.output)
        terminal.send(b"5")
        read_when(path, terminal, lambda text: "score = 85" in text)
        terminal.send(b"q")
        terminal.reach(b"\x1b[?1049l")
        terminal.reach(b"$ ")
        terminal.send(b"exit 3\n")
        assert terminal.wait() == 3
    finally:
        terminal.close()


PLACE = re.compile(rb"\x1b\[(\d+);(\d+)H")


def test_a_resized_terminal_is_filled_and_nothing_is_drawn_outside(
    workspace: Workspace, start: Callable[[], Terminal]
) -> None:
    terminal = start()
    for columns, rows in ((200, 60), (80, 24), (40, 12), (120, 35)):
        terminal.resize(columns, rows)
        place = (0, 0)
        end = time.monotonic() + PATIENCE_S
        # frames of the old size may still be on their way: a round of keys and answers shows one of the new
        while place[0] != rows or place[1] > columns:
            assert time.monotonic() < end, (columns, rows, place)
            terminal.output = b""
            terminal.send(b"?")
            terminal.until(lambda: b"Keys" in terminal.output)
            terminal.send(b"\x1b")
            terminal.until(lambda: b"class" in terminal.output)
            places = [(int(row), int(column)) for row, column in PLACE.findall(terminal.output)]
            place = max(row for row, _ in places), max(column for _, column in places)
    terminal.send(b"q")
    assert terminal.wait() == 0


def test_two_windows_on_one_scorecard_ask_and_lose_nothing(
    workspace: Workspace, start: Callable[[], Terminal]
) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    one, two = start(), start()
    one.send(b"sc85")
    read_when(path, one, lambda text: "score = 85" in text)
    two.send(b"st70")
    # what each has changed for itself is kept unasked
    read_when(path, two, lambda text: "score = 70" in text and "score = 85" in text)
    one.send(b"c86\r")
    read_when(path, one, lambda text: "score = 70" in text and "score = 86" in text)
    two.send(b"c80\r")
    two.see(b"press ! to settle")
    assert "80" not in re.findall(r"score = (\d+)", path.read_text())
    two.send(b"!")
    two.see(b"load what the other window saved")
    two.send(b"r")
    # undo brings back what this window had
    two.send(b"u")
    read_when(path, two, lambda text: "score = 80" in text and "score = 86" not in text)
    one.send(b"c87\r")
    one.see(b"press ! to settle")
    one.send(b"!")
    one.see(b"keep what is on this screen")
    one.send(b"o")
    read_when(path, one, lambda text: "score = 87" in text and "score = 70" in text)
    for terminal in (one, two):
        terminal.send(b"q")
        assert terminal.wait() == 0
    assert load_scorecard(path).score("correctness") == 87


@pytest.fixture
def half_typed(workspace: Workspace) -> Iterator[Terminal]:
    """A note in the middle of a word, while checks run."""
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    terminal = Terminal([sys.executable, "-c", PROGRAM, str(workspace.root), HANGING], env)
    terminal.see("✓3".encode())
    terminal.until(lambda: len(family(terminal.pid)) > 1)
    # pasted, it is drawn in one piece
    terminal.send(b"jja\x1b[200~half a thoug\x1b[201~")
    terminal.see(b"half a thoug")
    yield terminal
    terminal.close()


def note_on_disk(workspace: Workspace) -> str:
    return load_scorecard(workspace.scorecard_path("kv", "alpha", "anna")).notes[0].text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_saves_ends_the_engine_and_leaves_the_terminal_as_it_was(
    workspace: Workspace, half_typed: Terminal, number: signal.Signals
) -> None:
    started = family(half_typed.pid)
    half_typed.output = b""
    os.kill(half_typed.pid, number)
    assert half_typed.wait() == 128 + number
    half_typed.pump(0)
    for left in (
        b"\x1b[?1049l",
        b"\x1b[?1000l",
        b"\x1b[?1003l",
        b"\x1b[?1006l",
        b"\x1b[?2004l",
        b"\x1b[?25h",
    ):
        assert left in half_typed.output
    assert b"Traceback" not in half_typed.output
    assert note_on_disk(workspace) == "half a thoug"
    half_typed.until(lambda: not running(started))


def test_a_terminal_that_is_gone_ends_the_program_and_loses_nothing(
    workspace: Workspace, half_typed: Terminal
) -> None:
    started = family(half_typed.pid)
    assert half_typed.hang_up() == 128 + signal.SIGHUP
    assert note_on_disk(workspace) == "half a thoug"
    half_typed.until(lambda: not running(started))


def test_escape_in_a_long_burst_ends_the_note(workspace: Workspace, start: Callable[[], Terminal]) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    terminal = start()
    terminal.send(b"jja")
    terminal.see(b"saved as you type")
    terminal.send(
        b"first\x1bjaa second, and a very important one, note\x1bja\x1b[200~q\x1b[1mS\x1b[0m!\x1b[201~"
    )
    read_when(path, terminal, lambda text: "qS!" in text)
    texts = [note.text for note in load_scorecard(path).notes]
    assert texts == ["first", "a second, and a very important one, note", "qS!"]
