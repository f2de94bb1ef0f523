"""challenge import kattis: a package is a challenge as it is, from a folder or an archive."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
FILES = {
    "problem.yaml": "name: Twice the sum\n",
    ".timelimit": "3\n",
    "data/sample/1.in": "1 2\n",
    "data/sample/1.ans": "6\n",
    "data/secret/2.in": "1 -2\n",
    "data/secret/2.ans": "-2\n",
    "problem_statement/problem.en.tex": "\\problemname{Twice the sum}\n",
    "submissions/accepted/good.py": "print(2 * sum(map(int, input().split())))\n",
    "submissions/wrong_answer/six/main.py": "print(6)\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    place = tmp_path / "twice"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def test_every_file_of_a_package_is_there_afterwards(cli: Cli, root: Path, package: Path) -> None:
    done = cli("challenge", "import", "kattis", package)
    assert done.code == 0, done.err
    made = root / "challenges" / "twice"
    assert {name: (made / name).read_text() for name in FILES} == FILES
    assert "judge-tui challenge check twice" in done.out


def test_its_submissions_are_what_must_pass_and_what_must_fail(cli: Cli, root: Path, package: Path) -> None:
    cli("challenge", "import", "kattis", package)
    done = cli("challenge", "check", "twice")
    assert done.code == 0, done.out
    assert "✓ good.py: passes" in done.out
    assert "✓ six: secret fail" in done.out


def test_an_archive_is_a_package_too(cli: Cli, root: Path, package: Path) -> None:
    archive = shutil.make_archive(str(package), "zip", package.parent, package.name)
    assert cli("challenge", "import", "kattis", archive, "--as", "other").code == 0
    assert (root / "challenges" / "other" / "problem.yaml").read_text() == FILES["problem.yaml"]


def test_nothing_is_overwritten(cli: Cli, root: Path, package: Path) -> None:
    (root / "challenges" / "twice").mkdir(parents=True)
    done = cli("challenge", "import", "kattis", package)
    assert (done.code, "nothing is overwritten" in done.err) == (2, True)
    assert not list((root / "challenges" / "twice").iterdir())


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("problem.yaml", "type: multi-pass\n", "multi-pass problem"),
        ("problem.yaml", "name: [1\nb: 2", "problem.yaml:2: is not valid YAML"),
        ("problem.yaml", None, "it has no problem.yaml"),
        ("data", None, "has no case"),
    ],
)
def test_what_cannot_be_imported_is_told_in_a_sentence(
    cli: Cli, root: Path, package: Path, file: str, text: str | None, told: str
) -> None:
    if text is not None:
        (package / file).write_text(text)
    elif (package / file).is_dir():
        shutil.rmtree(package / file)
    else:
        (package / file).unlink()
    done = cli("challenge", "import", "kattis", package)
    assert (done.code, told in done.err) == (2, True), done.err
    assert str(package) in done.err
    assert not (root / "challenges").exists()


@pytest.mark.parametrize(
    ("name", "told"), [("kv", "kv is a built-in task"), ("Ünä ö", "is no name of a challenge")]
)
def test_names_are_names_of_challenges(cli: Cli, root: Path, package: Path, name: str, told: str) -> None:
    done = cli("challenge", "import", "kattis", package, "--as", name)
    assert (done.code, told in done.err) == (2, True), done.err


def test_a_path_that_is_not_there_is_told(cli: Cli, root: Path) -> None:
    done = cli("challenge", "import", "kattis", root / "nowhere")
    assert (done.code, "there is no" in done.err) == (2, True)
