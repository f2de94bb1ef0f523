"""``judge-tui report``: a document of what was scored, and a sentence where nothing was."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from .conftest import Cli


@pytest.fixture
def scored(root: Path, cli: Cli) -> Path:
    for model, points in (("glm5", "70"), ("qwen36", "85")):
        assert cli("score", model, "--task", "kv", "--set", f"correctness={points}").code == 0
    return root


def test_two_models_that_are_scored_make_a_document(scored: Path, cli: Cli) -> None:
    told = cli("report", "two-way", "glm5", "qwen36")
    assert told.code == 0
    assert told.out.startswith("# glm5 vs qwen36\n")
    assert "| Correctness | 70 | 85 | qwen36 |" in told.out


def test_all_that_are_scored_are_set_side_by_side_when_none_is_named(scored: Path, cli: Cli) -> None:
    made = json.loads(cli("report", "head-to-head", "--format", "json").out)
    assert list(made["models"]) == ["glm5", "qwen36"]


def test_the_name_of_a_file_says_the_format(scored: Path, cli: Cli) -> None:
    assert cli("report", "head-to-head", "-o", "r.html").out == "r.html: is written.\n"
    assert Path("r.html").read_text().startswith("<!doctype html>")
    assert cli("report", "head-to-head", "-o", "r.html").out == "r.html: is up to date.\n"


def test_a_file_that_says_something_else_is_stale(scored: Path, cli: Cli) -> None:
    cli("report", "two-way", "glm5", "qwen36", "-o", "r.md")
    assert cli("report", "two-way", "glm5", "qwen36", "-o", "r.md", "--check").code == 0
    cli("score", "glm5", "--task", "kv", "--set", "correctness=90")
    before = Path("r.md").read_bytes()
    told = cli("report", "two-way", "glm5", "qwen36", "-o", "r.md", "--check")
    assert (told.code, told.err) == (1, "r.md: is stale.\n")
    assert Path("r.md").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("two-way", "glm5"), "compares two models"),
        (("two-way", "glm5", "qwen36", "--check"), "-o FILE"),
        (
            ("two-way", "glm5", "qwen36", "--task", "backwards"),
            "judge-tui compare glm5 qwen36 --task backwards",
        ),
        (("head-to-head", "--judge", "nobody"), "as nobody"),
        (("two-way", "glm5", "gemini"), "gemini"),
        (("three-way", "glm5", "qwen36"), "two-way"),
    ],
)
def test_what_cannot_be_made_has_one_sentence(
    scored: Path, cli: Cli, arguments: tuple[str, ...], said: str
) -> None:
    told = cli("report", *arguments)
    assert told.code == 2
    assert said in told.err
    assert "Traceback" not in told.err


def test_scores_under_covered_names_are_told_where_there_are_no_others(root: Path, cli: Cli) -> None:
    card = root / "scores/kv/glm5/anna.toml"
    card.parent.mkdir(parents=True, exist_ok=True)
    sealed = "[blind]\nbegan = 2026-11-30T04:00:00Z\n\n[scores.correctness]\nscore = 80\n"
    card.write_text(f'task = "kv"\nmodel = "glm5"\njudge = "anna"\n\n{sealed}')
    told = cli("report", "two-way", "glm5", "qwen36", "--task", "kv")
    assert (told.code, "names are not revealed yet" in told.err) == (2, True)
    assert "nobody has scored" in cli("report", "two-way", "glm5", "qwen36", "--task", "backwards").err


def test_a_broken_card_is_left_out_and_told(scored: Path, cli: Cli) -> None:
    (scored / "scores/kv/qwen36/anna.toml").write_text("schema = ")
    told = cli("report", "head-to-head")
    assert told.code == 0
    assert "left out" in told.err
    assert "anna.toml:1" in told.err
    assert "## Left out" in told.out


def test_templates_behind_a_link_are_not_read(scored: Path, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/report.md.j2").write_text("theirs")
    (scored / "templates").symlink_to(tmp_path / "theirs")
    assert "theirs" not in cli("report", "two-way", "glm5", "qwen36").out


def test_a_round_is_named_and_several_are_combined(scored: Path, cli: Cli) -> None:
    (scored / "rounds").mkdir()
    for name in ("one", "two"):
        (scored / "rounds" / f"{name}.toml").write_text(f'title = "Round {name}"\ntasks = ["kv"]\n')
    assert cli("report", "round", "--round", "one").out.startswith("# Round one\n")
    assert cli("report", "combined").out.startswith("# Combined: Round one; Round two\n")
    against = cli("report", "round", "--round", "two", "--against", "one").out
    assert "## Against “Round one”" in against
    (scored / "rounds" / "one.toml").write_text("title = 3\n")
    told = cli("report", "combined")
    assert told.code == 0
    assert "rounds/one.toml:1" in told.err
    assert told.out.startswith("# Combined: Round two\n")


def test_what_a_round_cannot_do_is_said(scored: Path, cli: Cli) -> None:
    assert cli("report", "round", "--round", "none").code == 2
    assert "docs/formats.md" in cli("report", "combined").err
    assert cli("report", "two-way", "glm5", "qwen36", "--against", "one").code == 2
    assert "judge-tui check" in cli("report", "metrics", "glm5").err


def test_tables_are_rows_of_csv_and_parts_are_lines(scored: Path, cli: Cli) -> None:
    rows = list(csv.DictReader(cli("report", "head-to-head", "--format", "csv").out.splitlines()))
    task = "KV cache for autoregressive inference"
    found = [
        row["value"]
        for row in rows
        if (row["section"], row["row"], row["column"]) == (task, "Correctness", "glm5")
    ]
    assert found == ["70"]
    head, *parts = [
        json.loads(line) for line in cli("report", "head-to-head", "--format", "jsonl").out.splitlines()
    ]
    assert (head["schema"], head["shape"]) == (1, "head-to-head")
    assert {"heading", "table"} <= {part["part"] for part in parts}
    assert cli("report", "two-way", "glm5", "qwen36", "-o", "r.csv").code == 0
    assert Path("r.csv").read_text().startswith("section,part,row,column,value\n")


@pytest.mark.parametrize("shape", ["head-to-head", "round"])
def test_what_a_judge_calls_a_submission_stands_with_its_lines(scored: Path, cli: Cli, shape: str) -> None:
    file = next((scored / "submissions" / "glm5" / "kv").glob("*.py"))
    cli(
        "score",
        "glm5",
        "--task",
        "kv",
        "--verdict",
        f"reward hack:{file.name}:1-1:Stores the answer.",
        "--overall",
        "70",
    )
    file.write_text(f"# one more\n{file.read_text()}")
    text = cli("report", shape).out.replace("\\", "")
    assert f"⚑ reward hack – Stores the answer. ({file.name}:2)" in text
    assert text.count("⚑ reward hack") > 1


def test_a_command_in_a_hint_means_its_names(root: Path, cli: Cli) -> None:
    (root / "submissions" / "glm5").rename(root / "submissions" / "$(x) y")
    assert "judge-tui compare '$(x) y' qwen36 --task kv" in cli("report", "head-to-head", "--task", "kv").err
    assert "judge-tui check '$(x) y' --task kv" in cli("report", "metrics", "--task", "kv").err
