"""Attempts on the command line: which are meant, and what is said of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from judge_tui.checks.errors import UsageError
from judge_tui.cli.compare import meant
from judge_tui.cli.diagnosis import EXAMINATIONS
from judge_tui.cli.selection import select
from judge_tui.judging.sidefiles import judges_folder
from judge_tui.judging.workspace import Workspace

from .conftest import Cli, lines


@pytest.fixture
def repeated(root: Path) -> Path:
    """The workspace with two more answers of glm5: another one, and the first again."""
    tree = root / "submissions" / "glm5"
    for number in (2, 3):
        shutil.copytree(tree / "kv", tree / f"kv@{number}")
    (tree / "kv@2" / "kv_cache.py").write_text("# 2\nclass Cache:\n    pass\n")
    return root


def _selected(root: Path, *models: str, attempts: bool = False, task: str = "kv") -> list[str]:
    found = select(Workspace.at(root), models, [task], attempts=attempts)
    return [submission.model for submission in found.tasks[task]]


def test_a_name_means_one_answer_and_no_name_every_one(repeated: Path) -> None:
    assert _selected(repeated, "glm5", "qwen36") == ["glm5", "qwen36"]
    assert _selected(repeated, "glm5@2") == ["glm5@2"]
    assert _selected(repeated) == ["glm5", "glm5@2", "glm5@3", "qwen36"]
    assert _selected(repeated, "glm5@2", "qwen36", attempts=True) == ["glm5", "glm5@2", "glm5@3", "qwen36"]
    # a missing submission is told as ever
    assert _selected(repeated, "qwen36", attempts=True, task="backwards") == ["qwen36"]


def test_the_same_answer_is_judged_once_and_named(repeated: Path, cli: Cli) -> None:
    ended = cli("check", "--task", "kv", "--check", "loads", "--check", "size", "--trust")
    assert ended.code == 0, ended.err
    table = lines(ended.out)
    assert table[1] == "  glm5@3 = glm5: the same answer, judged once"
    assert sorted(line.split()[1] for line in table[2:-1]) == sorted(["glm5", "glm5@2", "qwen36"] * 2)
    assert "6 pass" in table[-1]
    # whoever reads it by program gets an outcome of each, the stored one of the same files
    told = json.loads(
        cli("check", "glm5", "--all", "--task", "kv", "--check", "size", "--format", "json").out
    )
    assert [one["model"] for one in told["outcomes"]] == ["glm5", "glm5@2", "glm5@3"]
    first, _, third = told["outcomes"]
    assert first | {"model": ""} == third | {"model": ""}


def test_an_edited_attempt_leaves_the_outcomes_of_the_others_as_they_are(repeated: Path, cli: Cli) -> None:
    def told() -> dict[str, str]:
        ended = cli("check", "--task", "kv", "--check", "loads", "--format", "json", "--trust")
        return {one["model"]: one["verdict"] for one in json.loads(ended.out)["outcomes"]}

    assert set(told().values()) == {"pass"}
    (repeated / "submissions" / "glm5" / "kv" / "kv_cache.py").write_text("def broken(:\n")
    assert told() == {"glm5": "fail", "glm5@2": "pass", "glm5@3": "pass", "qwen36": "pass"}


def test_home_prints_what_attempts_come_to(repeated: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    cli("score", "glm5", "--task", "kv", "--overall", "60")
    cli("score", "glm5@2", "--task", "kv", "--overall", "80")
    printed = lines(cli("home").out)
    at = next(number for number, line in enumerate(printed) if line.startswith("Attempts"))
    head, row = printed[at + 1 : at + 3]
    assert head.split("  ")[0] == "Model Task"
    figures = "glm5 kv 3 3 of 3 80 (@2) 66.7 11.5 0 of 3 – @3 = @1"
    assert " ".join(row.split()) == figures


def test_home_without_attempts_says_nothing_of_them(root: Path, cli: Cli) -> None:
    assert "ttempt" not in cli("home").out


def test_scores_of_an_attempt_go_to_its_card_and_out_and_in(repeated: Path, cli: Cli) -> None:
    assert cli("score", "glm5@2", "--task", "kv", "--set", "correctness=70").code == 0
    card = repeated / "scores" / "kv" / "glm5@2" / "anna.toml"
    assert 'model = "glm5"\nattempt = 2\n' in card.read_text()
    assert not (repeated / "scores" / "kv" / "glm5").exists()
    before = card.read_bytes()
    for form in ("jsonl", "csv"):
        out = repeated / f"out.{form}"
        assert cli("scores", "glm5@2", "--no-outcomes", "-o", out).code == 0
        if form == "jsonl":
            card.unlink()
            assert cli("import-scores", out).code == 0
            assert card.read_bytes() == before
        else:
            assert ",glm5,2,anna," in out.read_text()


def test_what_is_written_goes_to_an_attempt_that_is_there(repeated: Path, cli: Cli) -> None:
    ended = cli("score", "glm5@7", "--task", "kv", "--overall", "60")
    assert ended.code == 2
    assert "glm5 has no attempt 7" in ended.err
    ended = cli("score", "glm@2", "--task", "kv", "--overall", "60")
    assert ended.code == 2
    assert "Say glm5@2." in ended.err


def test_notes_on_every_attempt_are_printed_under_their_names(repeated: Path, cli: Cli) -> None:
    cli("score", "glm5", "--task", "kv", "--note", "bug:the first is wrong")
    cli("score", "glm5@2", "--task", "kv", "--note", "bug:the second is wrong")
    told = cli("notes").out
    assert "the first is wrong" in told
    assert "glm5@2" in told
    assert "the second is wrong" in told
    assert "the second is wrong" not in cli("notes", "glm5").out


def test_a_packet_of_two_attempts_says_neither_name_nor_number_when_blind(repeated: Path, cli: Cli) -> None:
    helpers = repeated / "submissions" / "glm5" / "kv@2" / "kv_cache.py"
    helpers.write_text("# glm5@2, kv@2\n")
    key = ("--key", "k.json")
    assert cli("packet", "glm5", "glm5@2", "--task", "kv", "--blind", "-o", "p.md", *key).code == 0
    text = Path("p.md").read_text()
    assert "@2" not in text
    assert "glm5" not in text
    seats = json.loads(Path("k.json").read_text())["packets"][0]["seats"]
    assert {seat["model"] for seat in seats.values()} == {"glm5", "glm5@2"}


def test_a_model_of_old_with_the_sign_in_its_name_is_warned_of_in_one_line(root: Path, cli: Cli) -> None:
    shutil.copytree(root / "submissions" / "glm5", root / "submissions" / "x@y")
    ended = cli("check", "x@y", "--task", "kv", "--check", "size", "--trust")
    assert ended.code == 0
    assert lines(ended.err) == [
        "judge-tui: x@y counts as a model of its own: rename its folder, @ is for attempts."
    ]
    assert "x@y counts as a model" in cli("home").out


def test_doctor_names_a_folder_that_is_called_as_only_an_attempt_can_be(root: Path) -> None:
    (root / "submissions" / "glm5" / "kv@1").mkdir()
    told = EXAMINATIONS["workspace"](root)
    assert told.state == "note"
    assert "1 odd name of folders" in told.told
    assert "glm5/kv@1 is no attempt" in told.remedy


def test_bindings_are_written_for_the_attempt_that_is_named(repeated: Path) -> None:
    found = Workspace.at(repeated)
    submission = found.submission("glm5@2", "kv")
    assert judges_folder(found, submission) == repeated / "bindings" / "glm5" / "kv@2"
    named = Workspace.at(repeated, bindings=Path("/mine"))
    assert judges_folder(named, submission) == Path("/mine/glm5/kv@2")


def test_attempts_of_one_model_are_compared_by_name(repeated: Path) -> None:
    _, chosen, _ = meant(("glm5", "glm@2"), "kv", None, repeated, None, None)
    assert [one.path.name for one in chosen] == ["kv", "kv@2"]
    with pytest.raises(UsageError, match="glm5@3 has no submission for backwards"):
        meant(("glm5", "glm5@3"), "backwards", None, repeated, None, None)
