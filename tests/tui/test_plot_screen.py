"""A curve in full: in dots, and as a picture where the terminal itself says that it takes them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.plot import PlotScreen
from judge_tui.tui.textual_private.answers import Graphics, told_of

from .conftest import make_app, running
from .test_terminal import Terminal

PROGRAM = """
import sys
from pathlib import Path
from judge_tui.checks.verdict import Curve
from judge_tui.judging.workspace import Workspace
from judge_tui.tui import app
from judge_tui.tui.screens.plot import PlotScreen
curve = Curve("tokens", "bytes", tuple((2.0**n, 4.0**n) for n in range(1, 12)), log_x=True, log_y=True)
app.JudgeApp.on_ready = lambda self: self.push_screen(PlotScreen(curve, "what a cache holds"))
sys.exit(app.run_home(workspace=Workspace.find(explicit=Path(sys.argv[1])), judge="anna"))
"""
CELL, PLAIN = b"\x1b[6;20;10t", b"\x1b[?62;22c"
OK = b"\x1b_Gi=31;OK\x1b\\"


@pytest.fixture
def terminal(workspace: Workspace) -> Iterator[Terminal]:
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    started = Terminal([sys.executable, "-c", PROGRAM, str(workspace.root)], env)
    yield started
    started.close()


@pytest.mark.parametrize(
    ("answers", "picture", "gone"),
    [
        (OK + CELL + PLAIN, b"\x1b_Ga=T,f=100,i=27,p=1,c=", b"\x1b_Ga=d,d=I,i=27"),
        (
            b"\x1b]1337;Capabilities=T2CwF\x07" + CELL + PLAIN,
            b"\x1b]1337;File=inline=1;width=",
            b"Next to judge",
        ),
        (CELL + b"\x1b[?62;4;22c", b'\x1bP0;1;0q"1;1;', b"Next to judge"),
    ],
    ids=["kitty", "iterm", "sixel"],
)
def test_a_terminal_that_answers_gets_a_picture_and_its_answers_are_typed_nowhere(
    terminal: Terminal, answers: bytes, picture: bytes, gone: bytes
) -> None:
    # the curve is there before anybody has answered
    terminal.until(lambda: b"\xe2\xa3" in terminal.output or b"\xe2\xa1" in terminal.output)
    terminal.reach(b"\x1b[c")
    terminal.send(answers)
    terminal.reach(picture)
    terminal.reach(b"\x1b8")
    terminal.send(b"q")
    terminal.reach(gone)
    terminal.send(b"q")
    assert terminal.wait() == 0
    assert b"Capabilities=" not in terminal.output
    assert b"31;OK" not in terminal.output


def test_a_terminal_that_takes_none_shows_dots_and_so_does_one_that_is_silent(terminal: Terminal) -> None:
    terminal.reach(b"\x1b[c")
    terminal.send(b"\x1b]1337;Capabilities=T2CwFoSx\x07" + PLAIN)
    # the second screen does not ask again
    terminal.send(b"q")
    terminal.reach(b"Next to judge")
    terminal.send(b"q")
    assert terminal.wait() == 0
    assert b"File=inline" not in terminal.output
    assert b"a=T" not in terminal.output


@pytest.mark.parametrize(
    ("answers", "cell", "protocol"),
    [
        ("", (0, 0), ""),
        ("\x1b_Gi=31;OK\x1b\\", (0, 0), ""),
        ("\x1b_Gi=31;OK\x1b\\", (8, 16), "kitty"),
        ("\x1b_Gi=31;ENOTSUP:no\x1b\\\x1b[?62;4c", (8, 16), "sixel"),
        ("\x1b]1337;Capabilities=T3FoF\x07", (8, 16), "iterm"),
        ("\x1b]1337;Capabilities=T3Fo\x07\x1b[?64;14c", (8, 16), ""),
    ],
)
def test_only_the_terminals_own_answer_counts(answers: str, cell: tuple[int, int], protocol: str) -> None:
    assert told_of(answers, cell).protocol == protocol


@pytest.mark.parametrize(
    ("answer", "protocol", "within"),
    [
        ("\x1b[?2;0;1000;1000S", "sixel", (125, 40)),
        ("\x1b[?2;0;4000;320S", "sixel", (148, 20)),
        # one that knows no such question, and one that cannot tell
        ("", "sixel", (148, 40)),
        ("\x1b[?2;1;0S", "sixel", (148, 40)),
        # there is no room for any
        ("\x1b[?2;0;70;1000S", "", None),
        ("\x1b[?2;0;0;0S", "", None),
    ],
)
def test_no_picture_is_larger_than_the_terminal_draws(
    answer: str, protocol: str, within: tuple[int, int] | None
) -> None:
    found = told_of(f"{answer}\x1b[?63;4c", (8, 16))
    assert found.protocol == protocol
    assert within is None or found.within(148, 40) == within


async def test_evidence_leads_to_its_curve_and_back(workspace: Workspace) -> None:
    async with running(make_app(workspace), size=(100, 30)) as app:
        await app.settle()
        await app.press("c", "g")
        app.app.compare.parts.check_actions.show_evidence(("beta", "accuracy"))  # type: ignore[union-attr]
        await app.until(lambda: "key misplaced" in app.text())
        assert "curve in full" in app.text()
        await app.press("v")
        await app.until(lambda: isinstance(app.app.screen, PlotScreen))
        text = app.text()
        assert "err (logarithmic)" in text
        assert "step" in text
        assert any("\u2801" <= sign <= "\u28ff" for sign in text)
        # a screen under test asks nobody
        await app.until(lambda: PlotScreen.graphics == Graphics())
        await app.pilot.resize_terminal(60, 20)
        assert "err (logarithmic)" in app.text()
        await app.press("v")
        assert "key misplaced" in app.text()
