"""``judge-tui`` alone on a real pseudo-terminal: Home, a comparison, a matchup, kill -9, and the way out."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from judge_tui.judging.matchup import load_matchups
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.keys.preferences import keep_theme, kept_theme

from .conftest import DYING
from .test_terminal import Terminal, in_a_shell, read_when, stop_and_go_on

PROGRAM = """
import sys
from judge_tui.tui.engine import check_runner
check_runner.EngineOptions.__init__.__kwdefaults__["command"] = (sys.executable, "-c", sys.argv.pop())
from judge_tui.cli import main
main()
"""


def start(folder: Path, *arguments: str, **given: str) -> Terminal:
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "JUDGE_TUI_JUDGE": "anna"} | given
    here = Path.cwd()
    os.chdir(folder)
    try:
        return Terminal([sys.executable, "-c", PROGRAM, *arguments, DYING], env)
    finally:
        os.chdir(here)


def test_home_opens_by_itself_and_what_was_half_typed_survives_kill_9(workspace: Workspace) -> None:
    path = workspace.matchups_path("kv", "anna")
    terminal = start(workspace.root)
    try:
        terminal.see(b"Next to judge")
        terminal.see(b"not scored")
        terminal.send(b"n")
        terminal.see(b"ended unexpectedly")
        terminal.send(b"M")
        terminal.see(b"Key differentiator")
        terminal.send(b"jj\rhalf a thou")
        read_when(path, terminal, lambda text: "half a thou" in text)
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
        terminal.status = -9
    finally:
        terminal.close()
    assert load_matchups(path).matchups[0].key_differentiator == "half a thou"


def test_leaving_a_comparison_leads_to_home_and_leaving_home_to_the_shell(workspace: Workspace) -> None:
    terminal = start(workspace.root, "home", "--judge", "bert")
    try:
        terminal.see(b"bert")
        terminal.see(b"not scored")
        terminal.send(b"\r")
        terminal.see(b"ended unexpectedly")
        terminal.send(b"q")
        terminal.see(b"Next to judge")
        terminal.send(b"q")
        assert terminal.wait() == 0
    finally:
        terminal.close()


def test_a_terminal_of_16_colours_keeps_its_own_ground_behind_rows_and_code(workspace: Workspace) -> None:
    terminal = start(workspace.root, TERM="screen", COLORTERM="", TEXTUAL_COLOR_SYSTEM="standard")
    try:
        terminal.until(lambda: b"not scored" in terminal.output and b"Alpha" in terminal.output)
        terminal.send(b"\r")
        terminal.until(lambda: b"ended unexpectedly" in terminal.output and b"attend" in terminal.output)
        # 49 is the reader's own, 40 black, whatever that is on their screen
        assert b";49m" in terminal.output
        assert b";40m" not in terminal.output
        assert b"38;2" not in terminal.output
    finally:
        terminal.close()


#: Magenta and bright yellow letters: accents of the light and of the dark palette of sixteen.
OF_LIGHT, OF_DARK = b"35;49m", b"93;49m"


@pytest.mark.parametrize(
    ("ground", "light"),
    [(b"rgb:ffff/ffff/ffff", True), (b"rgb:fd/f6/e3", True), (b"rgb:0000/0000/0000", False), (b"", False)],
)
def test_a_terminal_of_16_colours_that_says_its_ground_is_light_gets_colours_for_that(
    workspace: Workspace, ground: bytes, light: bool
) -> None:
    accent = OF_LIGHT if light else OF_DARK
    if light:
        # of which there is none in sixteen colours
        keep_theme("nord", "")
    terminal = start(workspace.root, TERM="xterm", COLORTERM="", TEXTUAL_COLOR_SYSTEM="standard")
    try:
        terminal.reach(b"\x1b]11;?\x1b\\")
        terminal.send((b"\x1b]11;%b\x1b\\" % ground if ground else b"") + b"\x1b[?62c?")
        terminal.until(lambda: b"have not judged" in terminal.output and accent in terminal.output)
        assert light or OF_LIGHT not in terminal.output
        assert b"rgb:" not in terminal.output
        terminal.send(b"qq")
        assert terminal.wait() == 0
        # nobody has picked it: the next terminal may have another ground
        assert kept_theme()[0] == ("nord" if light else "")
    finally:
        terminal.close()


def test_a_theme_that_was_picked_is_asked_nobody_about(workspace: Workspace) -> None:
    keep_theme("judge-dark", "")
    terminal = start(workspace.root, TERM="xterm", COLORTERM="", TEXTUAL_COLOR_SYSTEM="standard")
    try:
        terminal.until(lambda: b"not scored" in terminal.output and b"Alpha" in terminal.output)
        assert b"\x1b]11;?" not in terminal.output
    finally:
        terminal.close()


def test_a_folder_that_is_no_workspace_is_one_sentence_and_no_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = start(tmp_path)
    try:
        assert terminal.wait() == 2
        terminal.pump(0.2)
        assert b"is not a workspace" in terminal.output
        assert b"judge-tui init" in terminal.output
        assert b"\x1b[?1049h" not in terminal.output
    finally:
        terminal.close()


def test_ctrl_z_leads_from_home_to_the_shell_and_back(workspace: Workspace, tmp_path: Path) -> None:
    program = f"import os\nos.chdir({str(workspace.root)!r})\n{PROGRAM}"
    terminal = in_a_shell(tmp_path / "program.py", program, DYING)
    try:
        terminal.see(b"not scored")
        stop_and_go_on(terminal)
        terminal.see(b"not scored")
        terminal.send(b"q")
        terminal.reach(b"\x1b[?1049l")
        terminal.reach(b"$ ")
        terminal.send(b"exit 3\n")
        assert terminal.wait() == 3
    finally:
        terminal.close()
