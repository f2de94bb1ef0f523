"""What writes takes whole names; what reads may be asked in short, and shows the whole card."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.judging.scorecard import load_scorecard

Cli = Callable[..., Any]


@pytest.fixture
def mini(root: Path) -> Path:
    """A model whose name begins as that of a larger one, which has not answered."""
    files = root / "submissions" / "GPT-4o (mini)" / "kv"
    files.mkdir(parents=True)
    (files / "kv_cache.py").write_text("class Cache:\n    pass\n")
    return root


def cards(root: Path) -> list[Path]:
    return list((root / "scores").rglob("*.toml"))


@pytest.mark.parametrize(
    ("model", "task", "change", "meant"),
    [
        ("gpt", "kv", "correctness=80", "'GPT-4o (mini)'"),
        ("GPT-4o", "kv", "correctness=80", "'GPT-4o (mini)'"),
        ("glm5", "back", "correctness=80", "backwards"),
        ("glm5", "kv", "corr=80", "correctness"),
    ],
)
def test_a_score_goes_to_no_name_that_only_begins_so(
    cli: Cli, mini: Path, model: str, task: str, change: str, meant: str
) -> None:
    ended = cli("score", model, "--task", task, "--set", change)
    assert ended.code == 2
    assert "whole names" in ended.err
    assert f"Say {meant}." in ended.err
    assert cards(mini) == []


@pytest.mark.parametrize("model", ["GPT-4o (mini)", "gpt4omini", "gpt-4o-mini"])
def test_another_spelling_of_the_whole_name_is_the_name(cli: Cli, mini: Path, model: str) -> None:
    assert cli("score", model, "--task", "KV", "--set", "Correctness=80").code == 0
    assert load_scorecard(mini / "scores" / "kv" / "GPT-4o (mini)" / "anna.toml").score("correctness") == 80


def test_of_two_that_are_spelt_alike_none_is_guessed_for_a_score(cli: Cli, mini: Path) -> None:
    (mini / "submissions" / "GPT4o-mini" / "backwards").mkdir(parents=True)
    ended = cli("score", "gpt4omini", "--task", "kv", "--set", "correctness=80")
    assert (ended.code, cards(mini)) == (2, [])
    assert "GPT-4o (mini), GPT4o-mini" in ended.err
    # to be looked at, the one that has answered is meant
    assert cli("score", "gpt4omini", "--task", "kv").out.startswith("GPT-4o (mini) · kv · anna")


@pytest.mark.parametrize("option", ["--write", "--adapter"])
def test_a_binding_goes_to_no_name_that_only_begins_so(cli: Cli, mini: Path, option: str) -> None:
    ended = cli("bind", "gpt", "--task", "kv", option, "--trust")
    assert ended.code == 2
    assert "whole names" in ended.err
    assert not (mini / "bindings").exists()


def test_an_added_submission_goes_to_no_task_that_only_begins_so(
    cli: Cli, mini: Path, tmp_path: Path
) -> None:
    (tmp_path / "code.py").write_text("x = 1\n")
    ended = cli("add", tmp_path / "code.py", "--model", "new", "--task", "back")
    assert ended.code == 2
    assert "Say backwards." in ended.err
    assert not (mini / "submissions" / "new").exists()


def test_a_name_with_a_slash_is_refused_with_the_way_out(cli: Cli, mini: Path, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("x = 1\n")
    ended = cli("add", tmp_path / "code.py", "--model", "org/new model", "--task", "kv")
    assert ended.code == 2
    assert "--model 'org-new model' --title 'org/new model'" in ended.err
    done = cli(
        "add", tmp_path / "code.py", "--model", "org-new model", "--title", "org/new model", "--task", "kv"
    )
    assert done.code == 0
    assert "org/new model" in (mini / "submissions" / "org-new model" / "kv" / "submission.toml").read_text()


def test_without_a_change_the_whole_card_is_shown(cli: Cli, root: Path) -> None:
    cli(
        "score", "glm5", "--task", "kv", "--set", "correctness=85", "--comment", "correctness=fine\nhere",
        "--note", "bug/major:kv_cache.py:2-3:no\nlength", "--overall", "60", "--reason", "too thin",
        "--grade", "B", "--summary", "short",
    )  # fmt: skip
    before = (root / "scores" / "kv" / "glm5" / "anna.toml").read_bytes()
    told = [" ".join(line.split()) for line in cli("score", "glm", "--task", "kv").out.splitlines()]
    assert told[0] == "glm5 · kv · anna"
    for line in (
        "correctness 85 fine", "here", "completeness –", "overall 60 too thin", "grade B", "summary short",
        "bug/major kv_cache.py:2-3 no", "length",
        "scored 1 of 7 dimensions, weighted mean 85 (A-), overall 60, grade B",
    ):  # fmt: skip
        assert line in told, (line, told)
    assert (root / "scores" / "kv" / "glm5" / "anna.toml").read_bytes() == before


def test_notes_of_a_shown_card_stand_where_their_lines_are_now(cli: Cli, root: Path) -> None:
    code = root / "submissions" / "glm5" / "kv" / "kv_cache.py"
    lines = code.read_text().split("\n")
    at = next(number for number, line in enumerate(lines, 1) if lines.count(line) == 1 and line.strip())
    cli("score", "glm5", "--task", "kv", "--note", f"bug:kv_cache.py:{at}-{at}:odd")
    code.write_text("\n".join(["# one", "# two", *lines]))
    assert f"kv_cache.py:{at + 2}-{at + 2}  odd" in cli("score", "glm5", "--task", "kv").out
    code.write_text("# nothing\n")
    assert "(no longer there)  odd" in cli("score", "glm5", "--task", "kv").out


def test_of_a_card_that_says_nothing_the_dimensions_are_shown(cli: Cli, root: Path) -> None:
    told = cli("score", "glm5", "--task", "kv").out
    assert "correctness" in told
    assert "scored 0 of 7" in told
    assert "summary" not in told
    assert cards(root) == []
