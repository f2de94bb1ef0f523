"""``judge-tui scores`` and ``import-scores``: out as data, and back in, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Cli


@pytest.fixture
def scored(root: Path, cli: Cli) -> Path:
    for model, points in (("glm5", "70"), ("qwen36", "85")):
        assert cli("score", model, "--task", "kv", "--set", f"correctness={points}").code == 0
    return root


def test_scores_are_lines_of_json(scored: Path, cli: Cli) -> None:
    found = [json.loads(line) for line in cli("scores").out.splitlines()]
    assert [(one["record"], one["model"]) for one in found] == [
        ("scorecard", "glm5"),
        ("scorecard", "qwen36"),
    ]
    assert [json.loads(line)["model"] for line in cli("scores", "qwen36").out.splitlines()] == ["qwen36"]
    assert len(json.loads(cli("scores", "--format", "json").out)["records"]) == 2
    assert cli("scores", "--format", "csv").out.count("\n") == 3
    assert "$defs" in json.loads(cli("scores", "--format", "schema").out)


def test_what_went_out_comes_back(scored: Path, cli: Cli) -> None:
    assert cli("scores", "-o", "all.jsonl").out == "all.jsonl: is written.\n"
    card = next((scored / "scores" / "kv" / "glm5").iterdir())
    before = card.read_bytes()
    card.unlink()
    would = cli("import-scores", "all.jsonl", "--dry-run")
    assert (would.code, would.out) == (0, "all.jsonl: 1 would be new, 0 would be replaced, 1 as they were.\n")
    assert not card.exists()
    assert cli("import-scores", "all.jsonl").out == "all.jsonl: 1 new, 0 replaced, 1 as they were.\n"
    assert card.read_bytes() == before


def test_what_says_something_else_stays(scored: Path, cli: Cli) -> None:
    cli("scores", "-o", "all.jsonl")
    cli("score", "glm5", "--task", "kv", "--set", "correctness=20")
    card = next((scored / "scores" / "kv" / "glm5").iterdir())
    before = card.read_bytes()
    told = cli("import-scores", "all.jsonl")
    assert told.code == 2
    assert "all.jsonl:1: scores/kv/glm5/" in told.err
    assert "nothing was taken in: 1 fault" in told.err
    assert card.read_bytes() == before
    assert cli("import-scores", "all.jsonl", "--replace").code == 0
    assert b"70" in card.read_bytes()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("none.jsonl", None, "no such file"),
        ("empty.jsonl", b"", "no record in empty.jsonl"),
        ("bytes.jsonl", b"{}\n\xff\n", "bytes.jsonl:2: is not UTF-8"),
        ("short.csv", b"task,model\n", "short.csv:1: the first line has no column"),
        ("one.json", b'[{"task": "kv"}]', "one.json: record 1:"),
    ],
)
def test_a_file_that_says_nothing_is_told(
    root: Path, cli: Cli, name: str, data: bytes | None, said: str
) -> None:
    if data is not None:
        Path(name).write_bytes(data)
    told = cli("import-scores", name)
    assert told.code == 2
    assert said in told.err
    assert not list((root / "scores").rglob("*.toml"))


def test_the_schema_in_the_docs_is_the_one_that_is_printed(root: Path, cli: Cli) -> None:
    docs = Path(__file__).parents[2] / "docs"
    assert cli("scores", "--format", "schema").out == (docs / "record.schema.json").read_text()
