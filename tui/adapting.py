"""A judge's own adapter, from the screen: its skeleton made beside the screen, and written in an editor."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path

from judge_tui.checks.errors import UsageError
from judge_tui.checks.submission import Submission
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.engine.replay import where_told

__all__ = ["editor", "skeleton"]

#: Editors that are looked for where the judge has named none.
_USUAL = ("nano", "vim", "vi")


def editor() -> tuple[str, ...]:
    """The judge's editor, as a command.

    Raises:
        UsageError: None is named, and there is none of the usual ones.
    """
    told = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    with suppress(ValueError):
        if words := shlex.split(told):
            return tuple(words)
    found = next(filter(shutil.which, _USUAL), None)
    if found is None:
        raise UsageError("no editor is here: start judge-tui with EDITOR=…, the command of yours.")
    return (found,)


async def skeleton(workspace: Workspace, submission: Submission, *, trust: bool) -> None:
    """Write a skeleton into the judge's folder, by the command that searches the submission.

    The command ends when this is cancelled, and so do its workers.

    Raises:
        UsageError: It went wrong; says how.
    """
    where = where_told(workspace, workspace.bindings, trust=trust, cwd=Path("/"))
    command = [sys.executable, "-P", "-m", "judge_tui.cli", "bind", f"--task={submission.task}", "--adapter"]
    process = await asyncio.create_subprocess_exec(
        *command, *where, "--", submission.model, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE
    )
    try:
        _out, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
    if process.returncode:
        lines = said.decode(errors="replace").strip().removeprefix("judge-tui: ").split("\n")
        raise UsageError(lines[0] if lines else "the skeleton could not be made.")
