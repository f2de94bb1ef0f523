"""``judge-tui add``: what comes in, what is refused, and that whatever fails leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.judging.workspace import Workspace

Cli = Callable[..., Any]
BINARY = b"\x7fELF\x00" + b"\n\x0b\x1d" * 500


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    return folder


def tree(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


@pytest.mark.parametrize(
    "kind", ["empty", "hidden", "loop", "dangling", "pipe", "malformed", "meta", "whole"]
)
def test_what_fails_leaves_nothing_that_it_made(cli: Cli, root: Path, tmp_path: Path, kind: str) -> None:
    source = tmp_path / kind
    words = {"empty": "no file to add", "hidden": "no file to add", "meta": "no file to add"}
    words |= {"loop": "cannot be read", "dangling": "leads nowhere", "pipe": "neither a file nor a folder"}
    words |= {"malformed": "'origin' must be a text", "whole": "holds the workspace itself"}
    if kind in ("empty", "hidden", "malformed", "meta"):
        source.mkdir()
    if kind == "hidden":
        (source / ".env").write_text("secret\n")
    elif kind == "loop":
        source.symlink_to(source)
    elif kind == "dangling":
        source.symlink_to(tmp_path / "absent")
    elif kind == "pipe":
        os.mkfifo(source)
    elif kind in ("malformed", "meta"):
        (source / "submission.toml").write_text("origin = 3\n" if kind == "malformed" else "")
    elif kind == "whole":
        source = root
    before = tree(root)
    ended = cli("add", source, "--model", "m-new", "--task", "kv")
    assert ended.code == 2
    assert words[kind] in ended.err
    assert ".partial" not in ended.err
    assert tree(root) == before
    assert "m-new" not in Workspace.find(root).models()


def test_a_disk_that_fails_leaves_the_folders_as_they_were(
    cli: Cli, root: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(code / "a.py"))

    before = tree(root)
    monkeypatch.setattr(Path, "write_bytes", full)
    ended = cli("add", code, "--model", "m-new", "--task", "kv")
    assert ended.code == 2
    assert "No space left on device" in ended.err
    assert tree(root) == before


def test_pipes_and_links_within_are_left_out(cli: Cli, root: Path, code: Path) -> None:
    os.mkfifo(code / "pipe")
    (code / "link.py").symlink_to("a.py")
    assert cli("add", code, "--model", "m-new", "--task", "kv").code == 0
    assert tree(root / "submissions" / "m-new" / "kv") == {"a.py", "submission.toml"}


def test_links_and_names_that_are_not_utf8_are_told_and_counted(cli: Cli, root: Path, code: Path) -> None:
    (code / "link.py").symlink_to("a.py")
    (code / os.fsdecode(b"b\xff.py")).write_text("y = 1\n")
    (code / ".hidden").write_text("h")
    done = cli("add", code, "--model", "m-new", "--task", "kv")
    assert done.code == 0
    assert "1 file, 1 line, in" in done.out
    told = r"2 files are no part of the submission: b\xff.py (its name is not UTF-8), link.py (a link)."
    assert told in done.err


def test_what_is_left_out_does_not_count_as_too_large(
    cli: Cli, root: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge_tui.cli.bringing.brought.MOST_BYTES", 100)
    (code / ".git").mkdir()
    (code / ".git" / "pack").write_bytes(b"x" * 200)
    assert cli("add", code, "--model", "m-new", "--task", "kv").code == 0
    (code / "data.bin").write_bytes(b"x" * 200)
    assert "holds more than" in cli("add", code, "--model", "m-newer", "--task", "kv").err


def test_one_file_and_one_line_are_told_in_the_singular(cli: Cli, root: Path, code: Path) -> None:
    assert "1 file, 1 line, in" in cli("add", code, "--model", "m", "--task", "kv").out
    (code / "b.py").write_text("y = 1\nz = 2")
    assert "2 files, 3 lines, in" in cli("add", code, "--model", "n", "--task", "kv").out


def test_a_binary_has_no_lines_for_add_nor_for_the_check(cli: Cli, root: Path, code: Path) -> None:
    (code / "blob.bin").write_bytes(BINARY)
    (code / "more.py").write_text("y = 1\x0cz = 2\n\n")
    told = cli("add", code, "--model", "m", "--task", "kv").out
    assert "3 files, 3 lines, in" in told, "a form feed ends none"
    ended = cli("check", "m", "--task", "kv", "--check", "size", "--trust")
    assert "3 files, 3 lines, 0 functions, 0 tests" in ended.out


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("blob.bin", BINARY, "no source file among them: they are no text"),
        ("answer.md", b"# I would do it so\n", "no source file among them: answer.md and no code"),
        ("a.py", b"\n", "no source file among them: a.py is empty"),
    ],
)
def test_a_folder_without_source_is_added_with_a_warning(
    cli: Cli, root: Path, tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    source = tmp_path / "odd"
    source.mkdir()
    (source / name).write_bytes(data)
    ended = cli("add", source, "--model", "m", "--task", "kv")
    assert ended.code == 0
    assert words in ended.err


def test_source_is_added_without_a_warning(cli: Cli, root: Path, code: Path) -> None:
    assert cli("add", code, "--model", "m", "--task", "kv").err == ""


def test_a_title_beside_an_own_submission_toml_is_not_lost_without_a_word(
    cli: Cli, root: Path, code: Path
) -> None:
    (code / "submission.toml").write_text('model = "Own"\n')
    ended = cli("add", code, "--model", "m", "--task", "kv", "--title", "Other")
    assert ended.code == 0
    assert "is kept as it is" in ended.err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("-x", "begin with a dash"),
        ("__pycache__", "two underscores"),
        (".hid", "begin or end with a dot"),
        ("x/y", "cannot hold / as in"),
        ("a\nb", "control characters"),
        (" ", "cannot be empty"),
    ],
)
def test_a_name_that_no_command_could_reach_is_refused(
    cli: Cli, root: Path, code: Path, name: str, words: str
) -> None:
    before = tree(root)
    ended = cli("add", code, f"--model={name}", "--task", "kv")
    assert ended.code == 2
    assert words in ended.err
    assert tree(root) == before


def test_the_next_step_can_be_pasted_whatever_the_name(cli: Cli, root: Path, code: Path) -> None:
    assert "judge-tui check 'a b' --task kv" in cli("add", code, "--model", "a b", "--task", "kv").out
    assert cli("add", code, "--model", "ünï", "--task", "kv").code == 0


def test_names_of_signs_alone_are_different_models(cli: Cli, root: Path, code: Path) -> None:
    assert cli("add", code, "--model", "++", "--task", "kv").code == 0
    assert cli("add", code, "--model", "!!", "--task", "kv").code == 0
    assert {"++", "!!"} <= set(Workspace.find(root).models())
