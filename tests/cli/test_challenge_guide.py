"""The guide's challenges judge as it says: right ones pass, wrong ones fail, and so does what is lazy."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from judge_tui.cli.results import Ticker

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


def _tried(cli: Cli, name: str, kind: str) -> dict[str, str]:
    tried = json.loads(cli("challenge", "check", name, "--format", "json").out)["tried"]
    return {each["name"]: each["told"] for each in tried if each["kind"] == kind}


def test_a_test_file_that_cannot_be_collected_is_told_before_anything_is_judged(
    workspace: Path, cli: Cli
) -> None:
    folder = workspace / "challenges/lru_cache"
    (folder / "tests/test_more.py").write_text("import pytest\n\ndef test_more(:\n    pass\n")
    (folder / "wrong/first_in_first_out/submission.toml").write_text('must_fail = ["test_more"]\n')
    ended = cli("challenge", "check", "lru_cache")
    assert (ended.code, ended.out) == (2, "")
    assert "tests/test_more.py:3: The tests cannot be collected: SyntaxError" in ended.err
    assert "must_fail" not in ended.err


def test_a_name_that_tests_ask_for_and_no_right_answer_has_is_the_challenge_s(
    workspace: Path, cli: Cli
) -> None:
    file = workspace / "challenges/lru_cache/tests/test_lru_cache.py"
    file.write_text(file.read_text().replace("LRUCache", "LRUCahce"))
    assert _tried(cli, "lru_cache", "names") == {
        "LRUCahce": "no right answer has it, and tests/test_lru_cache.py:2 asks for it; "
        "did you mean LRUCache?"
    }


def test_a_right_answer_that_is_warned_of_says_so(workspace: Path, cli: Cli) -> None:
    answer = workspace / "challenges/rms_norm/right/einsum"
    (file,) = answer.glob("*.py")
    file.write_text(
        "import numpy as np\n\ndef rms_norm(x, gain, eps=1e-3):\n"
        "    x, gain = x.astype(np.float32), gain.astype(np.float32)\n"
        "    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(eps)) * gain\n"
    )
    (told,) = _tried(cli, "rms_norm", "right").values()
    assert told.startswith("passes; accuracy warn: float32 arithmetic on float64 input")


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


def test_what_lies_where_a_challenge_is_looked_for_and_is_none_is_named(workspace: Path, cli: Cli) -> None:
    tests = workspace / "challenges/mine/tests"
    tests.mkdir(parents=True)
    (tests / "my_ring.py").write_text("")
    ended = cli("challenge", "check", "mine")
    assert ended.code == 2
    assert "tests/ has no test_*.py: tests/my_ring.py is taken for none" in ended.err
    shutil.copytree(workspace / "challenges/rms_norm/right/einsum", workspace / "submissions/a/mine")
    ended = cli("check", "--task", "mine", "--check", "tests")
    assert (ended.code, "the challenge itself: tests/ has no test_*.py" in ended.out) == (2, True)


def test_a_challenge_that_cannot_judge_a_lazy_answer_is_off(
    workspace: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, ...]] = []
    monkeypatch.setattr(Ticker, "doing", lambda self, *parts: done.append(parts))
    cases = workspace / "challenges/mine/cases"
    cases.mkdir(parents=True)
    for name in ("1.in", "1.out"):
        (cases / name).write_text("1\n")
    ended = cli("challenge", "check", "mine")
    assert (ended.code, "✓" in ended.out) == (2, False)
    assert "cases/1.in: there is no cases/1.ans beside it, and no other ending is read" in ended.err
    (cases / "1.out").rename(cases / "1.ans")
    ended = cli("challenge", "check", "mine")
    assert (ended.code, "right/ holds no answer" in ended.out) == (1, True)
    lazy = [("the empty one", "cases"), ("the echoing one", "cases")]
    assert done[:2] == [("the challenge", "is read"), lazy[0]]
    assert done[2:5] == [("the challenge", "is read"), *lazy]
