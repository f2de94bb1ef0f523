"""The command that measures an outcome again, on the same inputs, outside the screen."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from judge_tui.checks.folders import present_folder
from judge_tui.checks.verdict import Outcome
from judge_tui.judging.workspace import Workspace

__all__ = ["prompt_command", "replay_command", "where_told"]


def replay_command(outcome: Outcome, where: Sequence[str] = ()) -> str:
    """The command line for a shell.

    Args:
        outcome: What is measured again, and not taken from its stored outcome.
        where: Options that say where the submissions are.
    """
    told = ["--task", outcome.task, "--check", outcome.check]
    told += ["--seed", str(outcome.seed), "--backend", outcome.backend, "--fresh", *where]
    return _line("check", outcome, told)


def prompt_command(outcome: Outcome) -> str:
    """The command line that prints what an adapter for the outcome's submission is written from."""
    return _line("bind", outcome, ["--task", outcome.task, "--prompt"])


def _line(command: str, outcome: Outcome, told: Sequence[str]) -> str:
    # a name that looks like an option is none behind two dashes
    words = [*told, "--", outcome.model] if outcome.model.startswith("-") else [outcome.model, *told]
    return shlex.join(["judge-tui", command, *words])


def where_told(
    workspace: Workspace, bindings: Path | None = None, *, trust: bool = False, cwd: Path | None = None
) -> tuple[str, ...]:
    """Options without which the command would find other submissions, or none.

    Args:
        workspace: What is compared.
        bindings: Tree of binding overlays, if any.
        trust: Whether checks run without a sandbox.
        cwd: Where the command will be run; the present folder by default.
    """
    cwd = (cwd or present_folder()).absolute()
    words: list[str] = []
    if cwd != workspace.root and workspace.root not in cwd.parents and workspace.root.is_dir():
        words += ["--workspace", str(workspace.root)]
    if workspace.submissions != workspace.root / "submissions":
        words += ["--submissions", str(workspace.submissions)]
    if bindings is not None:
        words += ["--bindings", str(bindings)]
    return (*words, "--trust") if trust else tuple(words)
