"""The real program on a real pseudo-terminal, blind: every byte that it writes is read."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .hostile_names import TALKING, make_hostile, names_in, told_by
from .test_terminal import Terminal

PROGRAM = """
import sys
from pathlib import Path
from judge_tui.judging.workspace import Workspace
from judge_tui.tui import app
from judge_tui.tui.engine import check_runner
from judge_tui.tui.widgets.code_view import CodeView
check_runner.EngineOptions.__init__.__kwdefaults__["command"] = (sys.executable, "-c", sys.argv[2])
def broken(self):
    glm5 = self.source.bare.text
    raise RuntimeError(f"GLM-5 and {glm5}")
CodeView.action_whitespace = broken
workspace = Workspace.find(explicit=Path(sys.argv[1]))
submissions = [workspace.submission(model, "kv") for model in ("glm5", "qwen36")]
sys.exit(app.run_compare(
    workspace=workspace, submissions=submissions, judge="anna", blind=sys.argv[3] == "blind"))
"""
#: Keys, and what is told to the screen in one piece once they have had their effect.
STEPS: tuple[tuple[bytes, bytes], ...] = (
    (b"ggvJJY", b"lines copied"),
    (b"\x1b", b""),
    (b"f", b"to narrow"),
    (b"\x1b", b""),
    (b".", b"the best"),
    (b",c\r", b"quantity"),
    (b"\x1b", b""),
    (b"\x1b", b""),
    (b"a", b"saved as you type"),
    (b"by Qwen of course", b"course"),
    (b"\x1b", b""),
    (b"s", b"Whether decoding"),
    (b"?", b"what each part of"),
    (b"\x1b", b""),
    (b"\x1b", b""),
    (b"M", b"Key differentiator"),
    (b"\x1b", b""),
)


class Recorder(Terminal):
    """A terminal that forgets nothing."""

    whole = b""

    def see(self, text: bytes) -> None:
        self.until(lambda: text in self.output)
        if not text:
            # Escape is told apart from what begins with the same byte by a pause
            end = time.monotonic() + 0.4
            self.until(lambda: time.monotonic() > end)
        self.whole += self.output
        self.output = b""

    def end(self) -> str:
        """Let the program break, and give all that it ever told."""
        self.send(b"i")
        assert self.wait() == 1
        for _ in range(5):
            self.pump(0.05)
        return told_by(self.whole + self.output)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Recorder]]:
    terminals: list[Recorder] = []
    workspace = make_hostile(tmp_path / "ws")
    env = os.environ | {
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "JUDGE_TUI_CACHE": str(tmp_path / "cache"),
    }

    def started(how: str) -> Recorder:
        arguments = [str(workspace.root), TALKING.replace("END", ""), how]
        terminals.append(Recorder([sys.executable, "-c", PROGRAM, *arguments], env))
        terminals[-1].see(b"ats" if how == "blind" else b"GLM-5")
        return terminals[-1]

    yield started
    for terminal in terminals:
        terminal.close()


def test_no_byte_tells_a_name_on_any_screen_on_the_clipboard_in_the_title_or_in_a_crash(
    start: Callable[..., Recorder],
) -> None:
    terminal = start("blind")
    for keys, text in STEPS:
        terminal.send(keys)
        terminal.see(text)
    told = terminal.end()
    assert names_in(told) == []
    assert "\x1b]2;judge-tui kv, blind\x07" in told
    assert "RuntimeError: ▒▒▒▒▒▒▒" in told
    # what was copied stands at the end
    assert "cache of ▒" in "\n".join(told.split("\n")[-4:])


def test_the_same_program_tells_names_on_all_these_ways_when_it_is_not_blind(
    start: Callable[..., Recorder],
) -> None:
    terminal = start("open")
    terminal.send(b"vJJY")
    terminal.see(b"lines copied")
    told = terminal.end()
    copied, crash = told.split("\n")[-4:], told[told.index("RuntimeError") :]
    assert names_in("\n".join(copied))
    assert names_in(crash)
