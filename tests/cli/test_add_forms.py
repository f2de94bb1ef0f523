"""``judge-tui add`` for what people have: archives, answers, notebooks, samples, pipes; further attempts."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from judge_tui.judging.workspace import Workspace

from .conftest import Cli, lines

ANSWER = "It grows.\n\n```python\nclass Cache:\n    pass\n```\n\n```bash\npip install x\n```\n"


def tree(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def samples(folder: Path, *told: Any) -> Path:
    file = folder / "samples.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in told))
    return file


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_an_archive_is_unpacked_and_what_is_left_out_is_told(cli: Cli, root: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "w.zip", "w") as archive:
        for name in ("work/a.py", "work/b.py", "../out.py", "work/more.zip"):
            archive.writestr(name, "x = 1\n")
    ended = cli("add", tmp_path / "w.zip", "--model", "m", "--task", "kv")
    assert ended.code == 0
    assert "m · kv: 2 files, 2 lines, in" in ended.out
    assert lines(ended.err) == [
        "judge-tui: 1 file is no part of the submission: ../out.py (its path leads out).",
        "judge-tui: 1 archive inside left out: work/more.zip.",
    ]
    assert tree(root / "submissions" / "m" / "kv") == {"a.py", "b.py", "submission.toml"}


def test_an_answer_alone_in_an_archive_is_read_as_one(cli: Cli, root: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "w.zip", "w") as archive:
        archive.writestr("work/chat.md", ANSWER)
    assert cli("add", tmp_path / "w.zip", "--model", "m", "--task", "kv").code == 0
    assert tree(root / "submissions" / "m" / "kv") == {"kv.py", "answer.md", "submission.toml"}


def test_an_answer_becomes_code_that_is_checked_and_prose_that_is_read(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "chat.md").write_text(ANSWER)
    ended = cli("add", tmp_path / "chat.md", "--model", "m", "--task", "kv")
    assert ended.code == 0
    assert lines(ended.err) == ["judge-tui: 1 fence is no file: line 8 (bash)."]
    checked = cli("check", "m", "--task", "kv", "--check", "loads", "--trust")
    assert checked.code == 0
    assert "1 file parses, 1 imported" in checked.out


def test_a_file_is_taken_as_it_is_where_that_is_said(cli: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.md").write_text(ANSWER)
    assert cli("add", tmp_path / "chat.md", "--model", "m", "--task", "kv", "--format", "files").code == 0
    assert tree(root / "submissions" / "m" / "kv") == {"chat.md", "submission.toml"}
    (tmp_path / "chat.py").write_text(ANSWER)
    told = cli("add", tmp_path / "chat.py", "--model", "n", "--task", "kv")
    assert "chat.py has a Markdown fence in line 3: --format answer takes the code out of it." in told.err
    assert cli("add", tmp_path / "chat.py", "--model", "o", "--task", "kv", "--format", "answer").code == 0
    assert "kv.py" in tree(root / "submissions" / "o" / "kv")


def test_an_answer_in_utf16_as_windows_writes_it_is_read(cli: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.md").write_text(ANSWER, encoding="utf-16")
    assert cli("add", tmp_path / "chat.md", "--model", "m", "--task", "kv").code == 0
    assert (root / "submissions" / "m" / "kv" / "kv.py").read_text() == "class Cache:\n    pass\n"


def test_a_folder_is_no_answer(cli: Cli, root: Path, tmp_path: Path) -> None:
    ended = cli("add", tmp_path, "--model", "m", "--task", "kv", "--format", "answer")
    assert ended.code == 2
    assert "--format answer is for a file" in ended.err


def test_a_notebook_becomes_a_script(cli: Cli, root: Path, tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": "!pip install x\nx = 1"}]
    (tmp_path / "w.ipynb").write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
    ended = cli("add", tmp_path / "w.ipynb", "--model", "m", "--task", "kv")
    assert ended.code == 0
    assert "1 line for the notebook alone is commented out: !pip install x." in ended.err
    assert tree(root / "submissions" / "m" / "kv") == {"kv.py", "submission.toml"}


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("w.zip", b"PK\x03\x04", "w.zip: is a zip archive that cannot be unpacked"),
        ("w.7z", b"7z\xbc\xaf\x27\x1c", "w.7z: is a 7-Zip archive, which cannot be unpacked here"),
        ("w.ipynb", b"{", "w.ipynb: is no notebook"),
        ("w.ipynb", b'{"cells": []}', "w.ipynb: is a notebook without a cell of code"),
        ("w.jsonl", b"\n", "w.jsonl: holds no answer"),
        ("w.md", b" \n", "there is no file to add"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_nothing_is_written(
    cli: Cli, root: Path, tmp_path: Path, name: str, data: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(data)
    before = tree(root)
    ended = cli("add", tmp_path / name, "--model", "m", "--task", "kv")
    assert ended.code == 2
    assert told in ended.err
    assert tree(root) == before


def test_a_pipe_brings_any_of_these(cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = 1"}]}
    for model, data in (
        ("a", ANSWER.encode()),
        ("b", b"class Cache:\n    pass\n"),
        ("c", json.dumps(notebook).encode()),
        ("d", b'{"completion": "x = 1\\ndef f(): pass"}\n'),
    ):
        piped(monkeypatch, data)
        assert cli("add", "-", "--model", model, "--task", "kv").code == 0
        assert (root / "submissions" / model / "kv" / "kv.py").is_file()
    piped(monkeypatch, b"")
    ended = cli("add", "-", "--model", "e", "--task", "kv")
    assert ended.code == 2
    assert "there is no file to add in standard input" in ended.err


def test_what_a_source_does_not_say_must_be_said(cli: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "--model is missing" in cli("add", tmp_path / "a.py", "--task", "kv").err
    assert "--task is missing" in cli("add", tmp_path / "a.py", "--model", "m").err


# further attempts


def test_attempts_are_numbered_on_and_the_first_has_no_number(cli: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    added = [cli("add", tmp_path / "a.py", "--model", "m", "--task", "kv", "--attempt") for _ in range(3)]
    assert [ended.code for ended in added] == [0, 0, 0]
    assert "m@3 · kv: 1 file" in added[2].out
    assert "judge-tui check m@3 --task kv" in added[2].out
    assert {path.name for path in (root / "submissions" / "m").iterdir()} == {"kv", "kv@2", "kv@3"}
    assert Workspace.find(root).attempts("m", "kv") == ("m", "m@2", "m@3")


def test_an_attempt_of_a_number_goes_there_if_it_is_free(cli: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv", "--attempt", "4").code == 0
    again = cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv", "--attempt=4")
    assert again.code == 2
    assert "glm5@4 has a submission for kv already" in again.err
    first = cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv")
    assert "Say --attempt for a further one" in first.err
    assert "glm5@5" in cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv", "--attempt").out


def test_a_number_whose_answer_is_gone_and_scored_is_not_given_again(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (root / "scores" / "kv" / "glm5@2").mkdir(parents=True)
    assert "glm5@3" in cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv", "--attempt").out


def test_a_number_that_would_mean_an_old_model_is_not_given(cli: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (root / "submissions" / "glm5@2" / "kv").mkdir(parents=True)
    refused = cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv", "--attempt", "2")
    assert refused.code == 2
    assert "glm5@2 is a model of its own" in refused.err
    assert "glm5@3" in cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv", "--attempt").out


@pytest.mark.parametrize("number", ["0", "x", "1.5", "1000000", "9" * 30])
def test_what_is_no_number_of_an_attempt_is_refused(
    cli: Cli, root: Path, tmp_path: Path, number: str
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    ended = cli("add", tmp_path / "a.py", "--model", "glm5", "--task", "kv", f"--attempt={number}")
    assert ended.code == 2
    assert "attempt" in ended.err


def test_a_new_model_with_the_sign_of_attempts_is_refused_and_an_old_one_told(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (root / "submissions" / "glm52" / "kv").mkdir(parents=True)
    refused = cli("add", tmp_path / "a.py", "--model", "glm5@2", "--task", "fuse")
    assert refused.code == 2
    assert "cannot hold @" in refused.err
    assert "--model glm5 --attempt 2" in refused.err
    (root / "submissions" / "x@y" / "kv").mkdir(parents=True)
    done = cli("add", tmp_path / "a.py", "--model", "x@y", "--task", "fuse")
    assert done.code == 0
    assert "x@y counts as a model of its own" in done.err


# samples


def test_samples_become_attempts_in_their_order(cli: Cli, root: Path, tmp_path: Path) -> None:
    file = samples(
        tmp_path,
        {"model": "m", "task": "kv", "completion": "def a(): pass", "sample": 1},
        {"model": "m", "task": "kv", "completion": "```python\ndef b(): pass\n```", "sample": 0},
        {"model": "M", "task_id": "fuse", "completion": "__global__ void k() {}"},
        {"task": "kv", "messages": [{"role": "assistant", "content": ""}]},
    )
    ended = cli("add", file, "--model", "other")
    assert ended.code == 0, ended.err
    assert "4 answers added." in ended.out
    assert "1 answer without code." in ended.err
    tree = root / "submissions"
    assert (tree / "m" / "kv" / "kv.py").read_text() == "def b(): pass\n"
    assert (tree / "m" / "kv@2" / "kv.py").read_text() == "def a(): pass"
    assert (tree / "m" / "fuse" / "fuse.cu").is_file()
    assert (tree / "other" / "kv" / "answer.md").read_text() == ""


def test_of_many_samples_the_first_are_told_and_the_rest_counted(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    ended = cli("add", samples(tmp_path, *[{"completion": ANSWER}] * 25), "--model", "m", "--task", "kv")
    assert len(lines(ended.out)) == 23
    assert "… and 5 more; of 5 something is to be told" in ended.out
    assert ended.err.count("1 fence is no file") == 20


def test_samples_go_behind_the_attempts_that_are_there_where_that_is_asked_for(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    file = samples(
        tmp_path, {"completion": "x = 1"}, {"completion": "x = 1", "attempt": 2}, {"completion": "x = 1"}
    )
    refused = cli("add", file, "--model", "glm5", "--task", "kv")
    assert refused.code == 2
    assert "samples.jsonl:1: glm5 has a submission for kv already" in refused.err
    assert cli("add", file, "--model", "glm5", "--task", "kv", "--attempt").code == 0
    assert Workspace.find(root).attempts("glm5", "kv") == ("glm5", "glm5@2", "glm5@3", "glm5@4")


def test_faults_of_samples_are_told_with_their_lines_and_nothing_is_written(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    before = tree(root)
    file = samples(
        tmp_path,
        {"model": "m", "task": "kv", "completion": "x = 1"},
        {"model": "m", "task_id": "HumanEval/12", "completion": "x = 1"},
        {"task": "kv", "completion": "x = 1"},
        {"model": "m", "task": "kv"},
        {"model": "a\nb", "task": "kv", "completion": "x = 1"},
        {"model": "glm5@2", "task": "kv", "completion": "x = 1"},
        {"model": "m", "task": "kv", "completion": "x = 1", "attempt": 1},
        {"model": "m", "task": "kv", "completion": "x = 1", "attempt": 1},
    )
    ended = cli("add", file)
    assert ended.code == 2
    told = lines(ended.err)
    words = [
        "there is no task",
        "says no model",
        "has no answer",
        "control characters",
        "cannot hold @",
        "an attempt 1",
    ]
    numbers = [2, 3, 4, 5, 6, 8]
    for line, number, word in zip(told, numbers, words, strict=False):
        assert f"samples.jsonl:{number}: " in line
        assert word in line
    assert told[-1] == "judge-tui: nothing was added: 6 faults."
    assert tree(root) == before


def test_a_model_with_its_owner_before_it_keeps_the_whole_as_its_title(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    assert cli("add", samples(tmp_path, {"model": "org/m", "task": "kv", "completion": "x = 1"})).code == 0
    assert 'model = "org/m"' in (root / "submissions" / "org-m" / "kv" / "submission.toml").read_text()


def test_a_disk_that_fails_at_the_second_of_several_leaves_none(
    cli: Cli, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if target.name == "kv@2":
            raise OSError(28, "No space left on device", str(target))
        return rename(self, target)

    before = tree(root)
    monkeypatch.setattr(Path, "rename", full)
    ended = cli("add", samples(tmp_path, *[{"completion": "x = 1"}] * 3), "--model", "m", "--task", "kv")
    assert ended.code == 2
    assert "No space left on device" in ended.err
    assert tree(root) == before


# without writing


def test_a_dry_run_says_what_would_be_and_writes_nothing(cli: Cli, root: Path, tmp_path: Path) -> None:
    before = tree(root)
    (tmp_path / "chat.md").write_text(ANSWER)
    ended = cli("add", tmp_path / "chat.md", "--model", "m", "--task", "kv", "--dry-run")
    assert ended.code == 0
    [told] = lines(ended.out)
    assert told.startswith("m · kv: would be 2 files, 12 lines, in ")
    assert told.endswith("/submissions/m/kv: answer.md, kv.py")
    assert "1 fence is no file" in ended.err
    assert tree(root) == before
    (tmp_path / "chat.md").write_text(" ")
    assert cli("add", tmp_path / "chat.md", "--model", "m", "--task", "kv", "--dry-run").code == 2


def test_a_folder_with_nothing_but_an_answer_is_told_how_it_becomes_code(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "chat.md").write_text(ANSWER)
    told = cli("add", tmp_path / "work", "--model", "m", "--task", "kv").err
    assert (
        "chat.md is Markdown with code in fences, no file of code, and judge-tui add chat.md makes those."
        in told
    )
    (tmp_path / "work" / "a.py").write_text("x = 1\n")
    (tmp_path / "work" / "b.ipynb").write_text("{}")
    (tmp_path / "work" / "c.zip").write_text("PK")
    assert lines(cli("add", tmp_path / "work", "--model", "n", "--task", "kv").err) == [
        "judge-tui: not unpacked, since judge-tui add unpacks one by itself: c.zip.",
        "judge-tui: b.ipynb is a notebook, where no check reads code: judge-tui add takes one by itself.",
    ]


def test_attempt_before_the_source_is_told_how_it_is_meant(cli: Cli, root: Path) -> None:
    ended = cli("add", "--attempt", "a.py", "--model", "m", "--task", "kv")
    assert ended.code == 2
    assert "'a.py' is no number of an attempt" in ended.err
