"""A judge's verdict on a submission as a whole: written with its lines, marked on boards, taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge_tui.judging.scorecard import load_scorecard

from .conftest import Cli


@pytest.fixture
def file(root: Path) -> Path:
    return next((root / "submissions" / "glm5" / "kv").glob("*.py"))


def _card(root: Path) -> Path:
    return next((root / "scores" / "kv" / "glm5").iterdir())


def test_it_is_written_with_its_lines_and_marked_on_the_board(root: Path, cli: Cli, file: Path) -> None:
    told = cli(
        "score", "glm5", "--task", "kv", "--verdict", f"Reward-hack:{file.name}:1-1:Stores the answer."
    )
    assert told.code == 0
    assert "verdict: – → reward hack" in told.out
    card = load_scorecard(_card(root))
    assert card.verdict is not None
    assert card.verdict_note is not None
    assert (card.verdict.kind, card.verdict_note.kind, card.verdict_note.lines) == (
        "reward hack",
        "bug",
        (1, 1),
    )
    assert f"reward hack – bug/minor {file.name}:1-1" in cli("score", "glm5", "--task", "kv").out
    readme = root / "README.md"
    readme.write_text("<!-- judge-tui:scoreboard -->\n<!-- /judge-tui:scoreboard -->\n")
    assert cli("export", str(readme)).code == 0
    board = readme.read_text()
    assert "⚑ reward hack |" in board
    shown = file.name.replace("_", "\\_")
    assert f"- ⚑ glm5, kv: reward hack, says anna: Stores the answer. ({shown}:1)" in board
    # the lines are where they are now
    file.write_text(f"# one more\n{file.read_text()}")
    cli("export", str(readme))
    assert f"({shown}:2)" in readme.read_text()


def test_clean_needs_no_mark_and_none_takes_it_back(root: Path, cli: Cli) -> None:
    cli("score", "glm5", "--task", "kv", "--verdict", "clean")
    readme = root / "README.md"
    readme.write_text("<!-- judge-tui:scoreboard -->\n<!-- /judge-tui:scoreboard -->\n")
    cli("export", str(readme))
    assert "⚑" not in readme.read_text()
    (record,) = [json.loads(line) for line in cli("scores", "--no-outcomes").out.splitlines()]
    assert record["verdict"] == {"kind": "clean"}
    assert "verdict: clean → –" in cli("score", "glm5", "--task", "kv", "--verdict", "none").out
    assert load_scorecard(_card(root)).verdict is None


def test_what_is_none_is_told_and_changes_nothing(root: Path, cli: Cli) -> None:
    told = cli("score", "glm5", "--task", "kv", "--verdict", "dirty")
    assert told.code == 2
    assert "clean, rubric leak, reward hack" in told.err
    assert not (root / "scores" / "kv" / "glm5").exists()


def test_a_malformed_one_is_told_with_its_line_and_unknown_keys_stay(root: Path, cli: Cli) -> None:
    cli("score", "glm5", "--task", "kv", "--verdict", "bug")
    path = _card(root)
    path.write_text(path.read_text().replace('kind = "bug"', 'kind = "bug"\nmine = 3'))
    cli("score", "glm5", "--task", "kv", "--set", "correctness=50")
    assert "mine = 3" in path.read_text()
    path.write_text(path.read_text().replace('kind = "bug"', 'kind = "dirty"'))
    told = cli("score", "glm5", "--task", "kv")
    assert told.code == 2
    assert "'kind' must be one of" in told.err
