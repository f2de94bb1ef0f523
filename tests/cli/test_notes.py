"""``judge-tui notes``: what was noted, where it is now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Cli


@pytest.fixture
def noted(root: Path, cli: Cli) -> Path:
    file = next((root / "submissions" / "glm5" / "kv").glob("*.py"))
    told = f"bug/major:{file.name}:1-1:No | bound."
    assert cli("score", "glm5", "--task", "kv", "--note", told, "--note", "strength:Clear.").code == 0
    return file


def test_notes_stand_where_they_are_now(noted: Path, cli: Cli) -> None:
    shown = noted.name.replace("_", "\\_")
    assert f"- No \\| bound. (major, {shown}:1)" in cli("notes", "glm5", "--task", "kv").out
    noted.write_text(f"# one more line\n{noted.read_text()}")
    out = cli("notes", "--format", "json").out
    bug, strength = json.loads(out)["notes"]
    assert (bug["lines"], bug["place"], bug["severity"], bug["model"]) == ([2, 2], "there", "major", "glm5")
    assert (strength["text"], strength["lines"]) == ("Clear.", None)


def test_where_nothing_was_noted_it_says_so(root: Path, cli: Cli) -> None:
    told = cli("notes", "glm5")
    assert (told.code, told.out) == (2, "")
    assert "nobody has noted anything on glm5" in told.err
    assert json.loads(cli("notes", "--format", "json").out) == {"schema": 1, "notes": []}


def test_what_a_language_model_noted_stands_apart(noted: Path, root: Path, cli: Cli) -> None:
    card = (root / "scores" / "kv" / "glm5" / "anna.toml").read_text()
    machine = card.replace('judge = "anna"', 'judge = "gpt"\njudge_kind = "model"').replace("Clear.", "Neat.")
    (root / "scores" / "kv" / "glm5" / "gpt.toml").write_text(machine)
    told = cli("notes").out
    assert told.index("Clear.") < told.index("### glm5, by language models") < told.index("Neat.")
    kinds = {
        note["text"]: note["judge_kind"] for note in json.loads(cli("notes", "--format", "json").out)["notes"]
    }
    assert kinds == {"No | bound.": "model", "Clear.": "person", "Neat.": "model"}
