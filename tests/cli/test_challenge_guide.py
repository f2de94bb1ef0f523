"""The guide's challenges judge as it says: right ones pass, wrong ones fail, and so does what is lazy."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from .conftest import Cli

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples" / "challenges"
NAMES = sorted(folder.name for folder in EXAMPLES.iterdir())


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "ws"
    for part in ("submissions", "scores"):
        (root / part).mkdir(parents=True)
    shutil.copytree(EXAMPLES, root / "challenges")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("name", NAMES)
def test_a_challenge_of_the_guide_is_fair_and_hard(workspace: Path, name: str, cli: Cli) -> None:
    ended = cli("challenge", "check", name, "--format", "json")
    tried = json.loads(ended.out)["tried"]
    assert ended.code == 0, tried
    kinds = {each["kind"] for each in tried}
    assert {"right", "wrong", "lazy"} <= kinds


def test_the_guide_shows_what_lies_there() -> None:
    shown = re.findall(r"```python\n(.*?)```", (DOCS / "challenges.md").read_text(), re.S)
    files = [EXAMPLES / "rms_norm/challenge.py", EXAMPLES / "lru_cache/tests/test_lru_cache.py"]
    assert shown == [file.read_text() for file in files]
    assert len(shown[0].strip().splitlines()) == 10


def test_three_answers_are_told_apart_by_check(workspace: Path, cli: Cli) -> None:
    folder = workspace / "challenges" / "rms_norm"
    for answer in (*(folder / "right").iterdir(), *(folder / "wrong").iterdir()):
        shutil.copytree(answer, workspace / "submissions" / answer.name / "rms_norm")
    ended = cli("check", "--task", "rms_norm", "--check", "accuracy", "--format", "json")
    outcomes = json.loads(ended.out)["outcomes"]
    assert {o["model"]: o["verdict"] for o in outcomes} == {
        "einsum": "pass", "wrong_eps": "fail", "wrong_at_width_one": "fail"
    }  # fmt: skip
    assert ended.code == 1


def test_a_fault_of_the_challenge_exits_with_2(workspace: Path, cli: Cli) -> None:
    (workspace / "challenges/rms_norm/challenge.py").write_text("1 / 0\n")
    shutil.copytree(workspace / "challenges/rms_norm/right/einsum", workspace / "submissions/einsum/rms_norm")
    ended = cli("check", "--task", "rms_norm", "--format", "json")
    (bad,) = [o for o in json.loads(ended.out)["outcomes"] if o["check"] == "accuracy"]
    assert (ended.code, bad["verdict"], bad["fault"]) == (2, "error", "challenge")
    assert "challenge.py:1" in bad["summary"]


def test_names_that_mean_nothing_and_nearly_something_are_told(workspace: Path, cli: Cli) -> None:
    file = workspace / "challenges/rms_norm/challenge.py"
    file.write_text(
        file.read_text() + "def edge_case(rng):\n    yield\ndef propery_a(call, rng): pass\nCASE = 3\n"
    )
    ended = cli("challenge", "check", "rms_norm", "--format", "json")
    told = {each["name"]: each["told"] for each in json.loads(ended.out)["tried"] if each["kind"] == "names"}
    assert ended.code == 1
    assert told == {
        "edge_case": "means nothing in challenge.py:11; did you mean edge_cases?",
        "propery_a": "means nothing in challenge.py:13; did you mean property_…?",
        "CASE": "means nothing in challenge.py:14; did you mean CASES?",
    }
