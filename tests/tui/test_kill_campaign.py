"""A judge who types at random, and a program that is killed at random: what is a second old is not lost."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from dataclasses import dataclass

import pytest

from judge_tui.judging.card import Scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.session import Session

from .conftest import DYING
from .test_terminal import PROGRAM, Terminal

pytestmark = pytest.mark.campaign

#: Every change is on disk within so many seconds.
PROMISED_S = 1.0
WORDS = "the cache keeps a stale slot when rows leave, see x+1 and b[0]; ¿por qué? 漢字 e\u0301 "


@dataclass(frozen=True)
class Typing:
    """Where text is typed, and where it is found again.

    Attributes:
        opened: Keys and what is then on the screen, one after the other.
        left: Keys that leave the editor, after which another place may be typed into.
    """

    name: str
    opened: tuple[tuple[bytes, bytes], ...]

    def text(self, card: Scorecard) -> str:
        if self.name == "note":
            return card.notes[-1].text if card.notes else ""
        return card.comment("correctness")


PLACES = (
    Typing("note", ((b"jja", b"saved as you type"),)),
    Typing("comment", ((b"s", b"Whether decoding"), (b"c\r", b"esc"))),
)


def card_after(workspace: Workspace) -> Scorecard:
    """The card as the next start has it."""
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    session = Session(workspace, submissions, "anna", lambda _report: None)
    try:
        session.save_restored()
        return session.cards[0]
    finally:
        session.close()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
@pytest.mark.parametrize("seed", range(25))
def test_what_was_typed_a_second_before_a_kill_is_there_afterwards(
    seed: int, place: Typing, workspace: Workspace
) -> None:
    rng = random.Random(seed)
    env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    terminal = Terminal([sys.executable, "-c", PROGRAM, str(workspace.root), DYING], env)
    sent: list[tuple[float, str]] = []
    try:
        terminal.see(b"ended unexpectedly")
        for keys, shown in place.opened:
            terminal.send(keys)
            terminal.see(shown)
        end = time.monotonic() + rng.uniform(0.2, 4.0)
        while time.monotonic() < end:
            letter = rng.choice(WORDS)
            terminal.send(letter.encode())
            sent.append((time.monotonic(), letter))
            terminal.pump(rng.choice((0.0, 0.01, 0.05, 0.4)))
        killed = time.monotonic()
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
        terminal.status = -9
    finally:
        terminal.close()
    whole = "".join(letter for _at, letter in sent)
    due = "".join(letter for at, letter in sent if at < killed - PROMISED_S)
    found = place.text(card_after(workspace))
    assert whole.startswith(found), (found, whole)
    assert found.startswith(due), (found, due)
