"""kv searches by the shared solver: what it does once is not written down again in the task."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge_tui.checks import tasks
from judge_tui.checks.tasks import kv

SOURCES = sorted(Path(kv.__file__).parent.rglob("*.py"))
#: Of all tasks.
EVERY = sorted(Path(tasks.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize(
    ("idiom", "instead"),
    [
        (r"worker\.alive", "a refused guess is a Guess, its end passes through"),
        (r"except \(\s*Fault,\s*KeyError", "what a guess may meet stands in Guess"),
        (r"rejected: dict\[str, list\[str\]\],", "a Search is handed on, and not its parts"),
        (r"def survived\(", "the solver remembers what ended a process"),
        (r'layout=""', "arrays in a callable's own order are told to the call by wired="),
    ],
)
def test_what_the_solver_does_is_not_done_again(idiom: str, instead: str) -> None:
    again = [f"{path.name}: {instead}" for path in SOURCES if re.search(idiom, path.read_text())]
    assert again == []


def test_how_a_signature_is_called_is_found_by_one_engine() -> None:
    """Which place goes by keyword, and which by position, is decided in ``binding/signatures.py`` alone."""
    again = [path.name for path in EVERY if re.search("KEYWORD_ONLY|POSITIONAL_ONLY", path.read_text())]
    assert again == []
