"""Parts of a check that were run by themselves, put together: as one run, or one sentence why not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.store import Store

from .conftest import Cli

RIGHT = "def layer_norm_forward(x, gamma, beta):\n    return x\n"
WRONG = "raise ValueError('broken')\n"
ASKED = ("--task", "backwards", "--check", "size", "--check", "loads", "--seed", "5", "--trust")
#: What differs from run to run.
TIMES = ("seconds",)

Runs = Callable[..., Path]


@pytest.fixture
def answers(root: Path) -> Path:
    for model, text in (("a", RIGHT), ("b", WRONG), ("c", RIGHT)):
        folder = root / "submissions" / model / "backwards"
        folder.mkdir(parents=True)
        (folder / "norm.py").write_text(text)
    for model in ("glm5", "qwen36"):
        for path in sorted((root / "submissions" / model).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (root / "submissions" / model).rmdir()
    return root


#: Part → its lines: the answers are the same in every test.
_RUN: dict[str, str] = {}


@pytest.fixture
def part(answers: Path, cli: Cli) -> Runs:
    """Runs a part, once for all tests, and gives its file."""

    def run(which: str) -> Path:
        if which not in _RUN:
            _RUN[which] = cli("check", *ASKED, "--format", "jsonl", "--shard", which).out
        file = answers / f"{which.replace('/', '-')}.jsonl"
        file.write_text(_RUN[which])
        return file

    return run


def figures(text: str) -> list[dict[str, Any]]:
    found = json.loads(text)["outcomes"]
    return [{key: value for key, value in one.items() if key not in TIMES} for one in found]


def test_two_parts_are_gathered_as_one_run_is_printed(cli: Cli, part: Runs) -> None:
    files = [part("1/2"), part("2/2")]
    models = [{json.loads(line)["model"] for line in file.read_text().splitlines()[1:-1]} for file in files]
    assert models == [{"a", "c"}, {"b"}]
    whole = cli("check", *ASKED, "--fresh", "--format", "json")
    done = cli("gather", *files, "--format", "json")
    assert (done.code, whole.code) == (1, 1)
    assert figures(done.out) == figures(whole.out)
    assert "fail" in cli("gather", *files).out


def test_what_was_found_elsewhere_is_stored_where_the_same_answers_are(
    answers: Path, cli: Cli, part: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = [part("1/2"), part("2/2")]
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "another"))
    (answers / "submissions" / "c" / "backwards" / "norm.py").write_text(RIGHT + "# changed since\n")
    done = cli("gather", *files)
    assert "stored the outcomes of 2 answers" in done.err
    assert len(list((tmp_path / "another" / "outcomes").glob("*.json"))) == 2
    assert Store()._folder == tmp_path / "another" / "outcomes"
    again = cli("check", "a", "b", *ASKED, "--format", "jsonl")
    assert again.code == 1
    # nothing ran: the head is that of a stored outcome
    assert "stored" in cli("check", "a", "b", *ASKED).out


def test_a_part_that_was_killed_is_told_and_its_other_run_taken(cli: Cli, part: Runs) -> None:
    first, second = part("1/2"), part("2/2")
    whole = first.read_text()
    for end in (whole[: len(whole) // 2], whole[: whole.rindex('{"shard"')], whole.rstrip("\n")):
        first.write_text(end)
        done = cli("gather", first, second)
        assert (done.code, done.out) == (2, "")
        assert f"{first} ends early: part 1/2 was broken off" in done.err
    first.write_text(whole)
    assert cli("gather", first, second).code == 1


def test_of_four_parts_one_is_killed_and_run_again_and_they_are_as_one_run(
    answers: Path, cli: Cli, part: Runs
) -> None:
    files = [part(f"{n}/4") for n in (2, 3, 4)]
    killed = answers / "1-4.jsonl"
    command = [sys.executable, "-P", "-m", "judge_tui.cli", "check", *ASKED, "--fresh", "--format", "jsonl"]
    running = subprocess.Popen([*command, "--shard", "1/4"], stdout=subprocess.PIPE, text=True)
    with running:
        assert running.stdout is not None
        # its head, and the first of two outcomes
        begun = running.stdout.readline() + running.stdout.readline()
        running.kill()
    killed.write_text(begun + begun[:40])
    assert "1/4 was broken off" in cli("gather", killed, *files).err
    killed.write_text(cli("check", *ASKED, "--format", "jsonl", "--shard", "1/4").out)
    whole, done = cli("check", *ASKED, "--format", "json"), cli("gather", killed, *files, "--format", "json")
    assert figures(done.out) == figures(whole.out)


def changed(file: Path, **told: Any) -> None:
    head, *rest = file.read_text().splitlines(keepends=True)
    file.write_text("".join([json.dumps(json.loads(head) | told) + "\n", *rest]))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"seed": 6}, "has the seed 6, and"),
        ({"selection": "sha256:0"}, "is about other answers, or other checks, than"),
        ({"shard": "2/3"}, "is part 2/3, and"),
        ({"shard": "1/2"}, "ends early"),
        (
            {"engine": {"sources": "x", "numpy": "1.0", "python": "3.11"}},
            "was judged with NumPy 1.0 in place of",
        ),
    ],
)
def test_parts_of_different_runs_are_refused_in_one_sentence(
    cli: Cli, part: Runs, told: dict[str, Any], said: str
) -> None:
    first, second = part("1/2"), part("2/2")
    changed(second, **told)
    done = cli("gather", first, second)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") <= 2


def test_missing_and_doubled_parts_are_named(cli: Cli, part: Runs) -> None:
    first = part("1/3")
    done = cli("gather", first)
    assert "parts 2/3, 3/3 are missing." in done.err
    copy = first.with_name("copy.jsonl")
    copy.write_bytes(first.read_bytes())
    assert "are both part 1/3" in cli("gather", first, copy).err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: is not the first line of a part"),
        ("{}\n", ":1: is not the first line of a part"),
        ('{"schema": 1}\n', ":1: is not the first line of a part"),
        ("\x00\x01\n", ":1: is not the first line of a part"),
    ],
)
def test_files_that_are_no_parts_are_named_with_their_line(
    root: Path, cli: Cli, text: str, said: str
) -> None:
    file = root / "x.jsonl"
    file.write_text(text)
    done = cli("gather", file)
    assert done.code == 2
    assert f"{file}{said}" in done.err


def test_a_line_within_that_is_no_outcome_is_named(cli: Cli, part: Runs) -> None:
    file = part("1/1")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:2], "{}\n", *lines[2:]]))
    assert f"{file}:3: is no outcome." in cli("gather", file).err


@pytest.mark.parametrize("wrong", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_part_is_written_as_one_of_several(root: Path, cli: Cli, wrong: str) -> None:
    done = cli("check", "--all", "--format", "jsonl", "--seed", "1", "--shard", wrong)
    assert done.code == 2
    assert "write 2/4 for the second of four" in done.err


@pytest.mark.parametrize("options", [("--seed", "1"), ("--format", "jsonl")])
def test_parts_need_lines_and_a_seed(root: Path, cli: Cli, options: tuple[str, ...]) -> None:
    done = cli("check", "--all", "--shard", "1/2", *options)
    assert done.code == 2
    assert "Say --format jsonl and --seed S" in done.err


def test_more_parts_than_answers_leave_some_empty(cli: Cli, part: Runs) -> None:
    files = [part(f"{n}/4") for n in range(1, 5)]
    assert len(files[3].read_text().splitlines()) == 2
    assert cli("gather", *files).code == 1
