"""A problem package of Kattis in the place of a challenge is read as it is; its YAML is plain data."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.challenges.challenge import Limits
from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.challenges.found import challenge_of
from judge_tui.judging.challenges.outline import outline, statement
from judge_tui.judging.challenges.packages import package_in
from judge_tui.judging.challenges.yaml_files import parsed_yaml

FILES = {
    "problem.yaml": "name: Sums\nvalidator_flags: float_tolerance 1e-6\nlimits: {memory: 64}\n",
    ".timelimit": "3\n",
    "data/sample/1.in": "1 2\n",
    "data/sample/1.ans": "3\n",
    "data/secret/small/2.in": "2 2\n",
    "data/secret/small/2.ans": "4\n",
    "problem_statement/problem.en.tex": "\\problemname{Sums}\n",
    "submissions/accepted/good.py": "print(sum(map(int, input().split())))\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "challenges" / "sums"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def test_a_package_is_a_challenge_of_programs(folder: Path) -> None:
    challenge = challenge_of(folder.parents[1], "sums")
    assert challenge is not None
    assert challenge.kinds == ("cases",)
    assert challenge.settings.limits == Limits(3.0, 64 << 20)
    assert challenge.settings.compare == "float relative 1e-6 absolute 1e-6 any-case"
    about = outline(challenge)
    assert (about.title, about.checks) == ("Sums", ("sample", "secret/small"))
    assert statement(folder.parents[1], "sums") == "\\problemname{Sums}\n"


def test_challenge_toml_wins_over_the_package(folder: Path) -> None:
    (folder / "challenge.toml").write_text('compare = "exact"\n[limits]\nseconds = 0.5\n')
    challenge = challenge_of(folder.parents[1], "sums")
    assert challenge is not None
    settings = challenge.settings
    assert (settings.title, settings.compare, settings.limits) == ("Sums", "exact", Limits(0.5, 64 << 20))


def test_what_a_package_asks_for_in_vain_is_told_with_its_path(folder: Path) -> None:
    (folder / "problem.yaml").write_text("type: interactive\n")
    with pytest.raises(WorkspaceError, match="interactive") as told:
        challenge_of(folder.parents[1], "sums")
    assert told.value.file == str(folder / "problem.yaml")
    assert statement(folder.parents[1], "sums") == ""


def test_a_folder_without_one_is_none(tmp_path: Path) -> None:
    assert package_in(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("a: 1\nb: [2\nc: 3", 3, "expected"),
        ("a: &x [1, 2]\nb: *x", 2, "alias"),
        ("a: !!python/object/apply:os.getcwd []", 1, "could not determine a constructor"),
        ("a: 2024-13-45", None, "month"),
        ("[" * 5000, None, "recursion"),
        ("a: \x07", None, "not allowed"),
    ],
    ids=["syntax", "alias", "code", "date", "depth", "control"],
)
def test_what_is_no_plain_yaml_is_told_in_a_sentence(text: str, line: int | None, told: str) -> None:
    with pytest.raises(WorkspaceError, match=told) as error:
        parsed_yaml(text.encode(), "task.yml")
    assert error.value.line == line
    assert str(error.value).startswith("task.yml:")
    assert "\n" not in str(error.value)


def test_a_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(WorkspaceError, match="larger than 1 MiB"):
        parsed_yaml(b"a: 1\n" * 300_000, "task.yml")


def test_plain_data_comes_as_it_is() -> None:
    text = b"tests:\n  - {size: 3, seed: 0x10}\n  - {name: 'a: b', big: 1500.5, on: true}\n"
    assert parsed_yaml(text, "task.yml") == {
        "tests": [{"size": 3, "seed": 16}, {"name": "a: b", "big": 1500.5, True: True}]
    }
