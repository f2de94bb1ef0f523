from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.cli.root import COMMANDS

COMMAND = [sys.executable, "-m", "judge_tui.cli"]


def loaded_by(arguments: list[str], folder: Path) -> set[str]:
    """Top-level modules that a command has imported when it ends."""
    code = (
        "import sys\nfrom judge_tui.cli.run import run\n"
        f"code = run({arguments!r})\n"
        "print('LOADED', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stderr.rpartition("LOADED")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        [],
        ["check", "--help"],
        ["check", "nobody"],
        ["export", "--check"],
        ["score", "glm5", "--task", "kv", "--set", "correctness=80"],
        ["compare", "glm5", "qwen36", "--task", "kv"],
        ["doctor"],
    ],
)
def test_what_opens_no_screen_never_imports_what_draws_one(root: Path, arguments: list[str]) -> None:
    loaded = loaded_by(arguments, root)
    assert "judge_tui" in loaded
    assert not loaded & {"textual", "rich", "pygments", "tree_sitter"}


@pytest.mark.parametrize(
    "arguments", [["--help"], [], ["export", "--check"], ["challenge", "new", "mine"], ["demo", "tried"]]
)
def test_start_up_pays_for_no_numpy_and_no_tomlkit(root: Path, arguments: list[str]) -> None:
    assert not loaded_by(arguments, root) & {"numpy", "tomlkit"}


def test_the_engine_itself_never_imports_rich(root: Path) -> None:
    code = (
        "import sys, judge_tui.checks.runner\n"
        "sys.exit(bool({'textual', 'rich', 'click'} & {n.partition('.')[0] for n in sys.modules}))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_help_lists_every_command_without_importing_them(cli: Callable[..., Any]) -> None:
    ended = cli("--help")
    assert ended.code == 0
    assert all(f"  {name} " in ended.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(cli: Callable[..., Any], name: str) -> None:
    ended = cli(name, "--help")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: judge-tui {name}")
    assert "\\b" not in ended.out


def test_an_unknown_command_or_option_is_two_lines_and_code_2(cli: Callable[..., Any]) -> None:
    ended = cli("compar")
    assert ended.code == 2
    assert "Did you mean compare?" in ended.err
    assert cli("check", "--nonsense").code == 2
    assert "Traceback" not in ended.err


def test_outside_of_a_workspace_the_next_step_is_told(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = cli()
    assert ended.code == 2
    assert "is not a workspace" in ended.err
    assert "judge-tui init" in ended.err


def test_what_nobody_foresaw_is_one_sentence_and_code_3(
    cli: Callable[..., Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("odd \x1b[31m")

    monkeypatch.setattr("judge_tui.cli.home.show", broken)
    ended = cli()
    assert ended.code == 3
    assert "Traceback" not in ended.err
    assert "\x1b" not in ended.err
    assert "RuntimeError" in ended.err
    monkeypatch.setenv("JUDGE_TUI_DEBUG", "1")
    assert "Traceback" in cli().err


def test_an_interrupt_is_code_130(
    cli: Callable[..., Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("judge_tui.cli.home.show", interrupted)
    assert cli().code == 130


def test_a_reader_that_has_enough_is_no_error(root: Path) -> None:
    shell = f"{sys.executable} -m judge_tui.cli completion bash | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", shell], cwd=root, capture_output=True, check=False)
    assert done.stderr == b""


def test_a_terminal_that_knows_no_utf8_gets_question_marks(root: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(COMMAND, cwd=root, env=environment, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"?" in done.stdout


def test_the_version_is_told(cli: Callable[..., Any]) -> None:
    assert cli("--version").out.startswith("judge-tui ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_completion_script(cli: Callable[..., Any], shell: str) -> None:
    assert "_JUDGE_TUI_COMPLETE" in cli("completion", shell).out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("judge-tui com", {"compare", "completion"}),
        ("judge-tui challenge n", {"new"}),
        ("judge-tui rubric new k", {"kv"}),
        ("judge-tui compare q", {"qwen36"}),
        ("judge-tui check --task k", {"kv"}),
        ("judge-tui check --format j", {"json", "jsonl", "junit"}),
    ],
)
def test_commands_models_and_tasks_are_completed(root: Path, words: str, offered: set[str]) -> None:
    asked = {"_JUDGE_TUI_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        COMMAND, cwd=root, env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert {line.partition(",")[2] for line in done.stdout.split()} == offered
