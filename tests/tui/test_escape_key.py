"""Escape is Escape, however fast the next key follows."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from judge_tui.tui.keys.escape_key import heed_pauses, without_alt
from textual import constants, events
from textual._xterm_parser import XTermParser


def test_a_pause_is_waited_for_no_longer_than_a_typist_notices() -> None:
    code = "import judge_tui.tui.app; from textual import constants; print(constants.ESCAPE_DELAY)"
    # In a process of its own: here, a test's plugin may have imported Textual first.
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(told) <= 0.03


@pytest.mark.parametrize("key", ["2", "j", ":", "\r"])
def test_a_key_behind_escape_is_a_key_of_its_own(key: str) -> None:
    heed_pauses()
    parser = XTermParser()
    told = list(parser.feed("\x1b"))
    time.sleep(constants.ESCAPE_DELAY * 1.2)
    told += list(parser.feed(key))
    assert [event.character for event in told if isinstance(event, events.Key)] == ["\x1b", key]


def test_a_sequence_that_arrives_in_one_piece_is_still_a_sequence() -> None:
    heed_pauses()
    assert [event.key for event in XTermParser().feed("\x1b[A") if isinstance(event, events.Key)] == ["up"]


def test_alt_and_a_letter_are_escape_and_the_letter() -> None:
    assert [key.key for key in without_alt(events.Key("alt+q", "q"))] == ["escape", "q"]
    assert [key.key for key in without_alt(events.Key("alt+shift+g", "G"))] == ["escape", "G"]
    assert [key.key for key in without_alt(events.Key("alt+backspace", None))] == ["alt+backspace"]
