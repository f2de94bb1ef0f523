"""Commands on files of a newer schema: what reads them says so, and what would write them refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge_tui.judging.export import BEGIN, END

from .conftest import Cli
from .test_bind import BACKWARD, RIGHT, submit

UNTIL = "until judge-tui is updated."
CARD = """\
schema = 2
task = "kv"
model = "glm5"
judge = "anna"
overall = 77
mood = "new"

[dimensions.correctness]
score = 85
"""
META = 'schema = 2\nmodel = "Some One"\n\n[binding.forward]\ntarget = "norm.py:layer_norm_backward"\n'


@pytest.fixture
def card(root: Path) -> Path:
    path = root / "scores" / "kv" / "glm5" / "anna.toml"
    path.parent.mkdir(parents=True)
    path.write_text(CARD)
    return path


@pytest.mark.parametrize(
    "change",
    [
        ("--set", "correctness=90"),
        # what stands there already, too: nobody is told that this was taken
        ("--set", "correctness=85"),
        ("--set", "correctness=none"),
        ("--comment", "correctness=hm"),
        ("--note", "bug:it is wrong"),
        ("--summary", ""),
        ("--overall", "none"),
        ("--reason", "so"),
        ("--grade", "none"),
        ("--elsewhere",),
    ],
)
def test_score_changes_nothing_of_a_newer_card_and_says_why(
    cli: Cli, card: Path, change: tuple[str, ...]
) -> None:
    ended = cli("score", "glm5", "--task", "kv", *change)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err == (
        f"judge-tui: {card}: is a scorecard of schema 2, and this judge-tui knows schema 1: "
        f"it is shown as far as it can be read and stays as it is {UNTIL}\n"
    )
    assert card.read_text() == CARD


def test_score_shows_a_newer_card_with_what_is_to_be_said_of_it(cli: Cli, card: Path) -> None:
    ended = cli("score", "glm5", "--task", "kv")
    assert ended.code == 0
    assert "scored 1 of" in ended.out
    assert "overall 77" in ended.out
    assert ended.err.count(UNTIL) == 1
    assert card.read_text() == CARD
    other = cli("score", "qwen36", "--task", "kv", "--set", "correctness=90")
    assert (other.code, other.err) == (0, "")


def test_export_reads_a_newer_card_and_tells_that_it_may_say_more(cli: Cli, root: Path, card: Path) -> None:
    readme = root / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    ended = cli("export", readme)
    assert ended.code == 0
    assert "77" in readme.read_text()
    assert str(card) in ended.err
    assert ended.err.count(UNTIL) == 1
    assert card.read_text() == CARD


def test_home_and_doctor_tell_of_a_newer_card(cli: Cli, card: Path) -> None:
    ended = cli("home")
    assert ended.code == 0
    assert "77" in ended.out
    assert [line for line in ended.out.splitlines() if UNTIL in line] == [
        f"! {card}: is a scorecard of schema 2, and this judge-tui knows schema 1: "
        f"it is shown as far as it can be read and stays as it is {UNTIL}"
    ]
    told = cli("doctor").out
    assert "1 scorecard of a newer schema" in told
    assert card.read_text() == CARD


def test_a_version_that_is_none_is_told_with_its_line(cli: Cli, card: Path) -> None:
    card.write_text(CARD.replace("schema = 2", "schema = true"))
    ended = cli("score", "glm5", "--task", "kv", "--set", "correctness=90")
    assert ended.code == 2
    assert f"{card}:1: 'schema' must be a whole number from 1 on" in ended.err


@pytest.mark.parametrize("option", ["--write", "--adapter"])
def test_bind_writes_nothing_for_a_newer_submission_toml(cli: Cli, root: Path, option: str) -> None:
    folder = submit(root, {"norm.py": RIGHT + BACKWARD, "submission.toml": META})
    before = {path.name: path.read_text() for path in folder.iterdir()}
    ended = cli("bind", "someone", "--task", "backwards", "--trust", option)
    assert ended.code == 2
    assert "submission.toml:1: is a submission.toml of schema 2" in ended.err
    assert ended.err.count(UNTIL) == 1
    assert {path.name: path.read_text() for path in folder.iterdir()} == before


def test_check_skips_a_newer_submission_with_the_reason(cli: Cli, root: Path) -> None:
    submit(root, {"norm.py": RIGHT + BACKWARD, "submission.toml": META})
    ended = cli("check", "someone", "--task", "backwards", "--trust", "--format", "json")
    outcomes = json.loads(ended.out)["outcomes"]
    assert outcomes
    assert {one["verdict"] for one in outcomes} == {"skip"}
    assert all("schema 2" in one["summary"] for one in outcomes)


def test_home_shows_the_name_in_a_newer_submission(cli: Cli, root: Path) -> None:
    submit(root, {"norm.py": RIGHT, "submission.toml": META})
    assert "Some One" in cli("home").out


def test_a_newer_submission_is_added_as_it_is_with_a_warning(cli: Cli, root: Path, tmp_path: Path) -> None:
    source = tmp_path / "answer"
    source.mkdir()
    (source / "norm.py").write_text(RIGHT)
    (source / "submission.toml").write_text(META)
    ended = cli("add", source, "--model", "someone", "--task", "backwards")
    assert ended.code == 0
    assert UNTIL in ended.out + ended.err
    assert (root / "submissions" / "someone" / "backwards" / "submission.toml").read_text() == META
