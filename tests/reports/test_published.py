"""The reports that docs/ shows are those that the scores of this repository make, byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge_tui.cli.run import run
from judge_tui.judging.summaries.asked import SHAPES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reports"
COMMANDS = re.findall(r"^judge-tui (.+)$", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS, ids=[command.partition(" -o ")[2] for command in COMMANDS])
def test_a_published_report_is_up_to_date(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run([*command.split(), "--check"]) == 0, "make reports"


def test_every_file_is_written_by_a_command_and_shown_in_the_index() -> None:
    written = {FOLDER.parent.parent / command.split(" -o ")[1].split()[0] for command in COMMANDS}
    assert {path for path in FOLDER.iterdir() if path.is_file()} == written | {FOLDER / "README.md"}
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in written} <= set(re.findall(r"\]\(([^)]+)\)", index))


def test_every_shape_is_shown() -> None:
    assert {command.split()[1] for command in COMMANDS} == set(SHAPES)


def test_every_picture_is_shown_and_none_is_left_over() -> None:
    shown = {
        name
        for path in FOLDER.glob("*.md")
        for name in re.findall(r"\]\(pictures/([^)]+)\)", path.read_text(encoding="utf-8"))
    }
    assert {path.name for path in (FOLDER / "pictures").iterdir()} == shown


def test_nothing_of_a_machine_stands_in_them() -> None:
    for path in FOLDER.rglob("*"):
        if path.is_file():
            assert str(ROOT) not in path.read_text(encoding="utf-8")
