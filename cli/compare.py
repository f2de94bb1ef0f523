"""``judge-tui compare``: two or three submissions side by side on a screen."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click

from judge_tui.checks.errors import UsageError
from judge_tui.checks.submission import Submission
from judge_tui.cli import options
from judge_tui.cli.screen import on_screen
from judge_tui.judging import read_only
from judge_tui.judging.naming import default_judge, judge_name
from judge_tui.judging.read_once import no_collection
from judge_tui.judging.workspace import Workspace

__all__ = ["command", "meant"]


@click.command("compare")
@click.argument("models", nargs=-1, metavar="MODEL MODEL [MODEL]", shell_complete=options.complete_model)
@options.task()
@options.judge
@options.backend
@options.seed
@options.trust
@click.option("--blind", is_flag=True, help="Hide the names, sides drawn by lot, until you have scored.")
@options.workspace
@options.submissions
@options.bindings
def command(
    models: tuple[str, ...],
    task: str | None,
    judge: str | None,
    workspace: Path | None,
    submissions: Path | None,
    bindings: Path | None,
    **settings: Any,
) -> int:
    """Read two or three submissions side by side, check and score them.

    Models and tasks may be shortened to a prefix that is unique, be it among the models with an answer to the
    task. A comparison that was begun blind stays so until the names are revealed in it.
    """
    found, chosen, who = meant(models, task, judge, workspace, submissions, bindings)
    if not on_screen():
        raise UsageError(
            "comparing needs a terminal, and this is none.",
            hint="For scripts there are: judge-tui check, judge-tui score.",
        )
    if read_only.asked_for():
        read_only.begin()
    else:
        from judge_tui.tui.engine.engine_link import ENGINE, EngineProcess

        # The engine loads beside the screen.
        with contextlib.suppress(OSError):
            settings["ahead"] = EngineProcess((*ENGINE, chosen[0].task))
    with no_collection():
        from judge_tui.tui.app import run_compare

    return run_compare(workspace=found, submissions=chosen, judge=who, **settings) or 0


def meant(
    models: tuple[str, ...],
    task: str | None,
    judge: str | None,
    workspace: Path | None,
    submissions: Path | None,
    bindings: Path | None,
    **_: Any,
) -> tuple[Workspace, list[Submission], str]:
    """What a command line compares: the workspace, the submissions and the judge.

    Raises:
        JudgeError: There is no such workspace, model, task, submission or judge.
    """
    found = options.open_workspace(workspace, submissions, bindings)
    chosen = _chosen(found, models, task)
    return found, chosen, judge_name(judge) if judge is not None else default_judge()


def _chosen(workspace: Workspace, names: tuple[str, ...], task: str | None) -> list[Submission]:
    if not 2 <= len(names) <= 3:
        raise UsageError(
            f"compare takes two or three models, not {len(names)}.",
            hint=f"There are: {', '.join(workspace.models()) or 'none yet'}.",
        )
    tasks = [workspace.task(task)] if task is not None else []
    models = [workspace.model(name, *tasks) for name in names]
    if len(set(models)) < len(models):
        raise UsageError("compare takes different models.", hint=f"These were meant: {', '.join(models)}.")
    chosen = tasks[0] if tasks else _shared_task(workspace, models)
    found = [workspace.submission(model, chosen) for model in models]
    for submission in found:
        if not submission.path.is_dir():
            submitted = ", ".join(workspace.submitted(submission.model)) or "nothing"
            raise UsageError(
                f"{submission.model} has no submission for {chosen}.", hint=f"It has: {submitted}."
            )
    return found


def _shared_task(workspace: Workspace, models: list[str]) -> str:
    shared = set.intersection(*(set(workspace.submitted(model)) for model in models))
    if len(shared) == 1:
        return shared.pop()
    tasks = ", ".join(sorted(shared or workspace.tasks()))
    raise UsageError("say which task to compare.", hint=f"Add --task with one of: {tasks}.")
