"""Reports for the screen: made beside the event loop, and statistics in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from judge_tui.checks.errors import JudgeError, UsageError, WorkspaceError
from judge_tui.judging.folders import kept_inside
from judge_tui.judging.storage import write_atomically
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.parts import Report
from judge_tui.judging.workspace import Workspace

__all__ = ["FORMATS", "made", "written"]

#: Ends of a file's name that say what it is written as.
FORMATS = (".md", ".html", ".json", ".jsonl", ".csv")
#: Shapes that compute: NumPy stays out of the screen's process.
_COMPUTED = frozenset({"standings"})
#: Seconds after which such a process is given up.
_PATIENCE_S = 120


def made(workspace: Workspace, asked: Asked) -> Report:
    """A report; run it in a thread.

    Raises:
        JudgeError: There is nothing to report, or a file that it needs is malformed.
    """
    return _told(workspace, asked) if asked.shape in _COMPUTED else report_of(workspace, asked)


def _told(workspace: Workspace, asked: Asked) -> Report:
    """A report by the command, which prints it as data."""
    from judge_tui.reports.reading import read_report

    options = [f"--task={task}" for task in asked.tasks] + [f"--judge={judge}" for judge in asked.judges]
    if asked.published is not None:
        options.append("--published" if asked.published else "--own")
    command = [sys.executable, "-P", "-m", "judge_tui.cli", "report", asked.shape, "--format", "json"]
    command += [f"--workspace={workspace.root}", *options, "--", *asked.models]
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError("the figures could not be computed in time.") from error
    try:
        return read_report(ended.stdout)
    except ValueError as error:
        said = ended.stderr.strip().removeprefix("judge-tui: ").partition("\n")[0]
        raise UsageError(said or "the figures could not be computed.") from error


def written(workspace: Workspace, report: Report, file: Path) -> str:
    """Write a report into a file, in the format that its name says.

    Args:
        workspace: Whose templates may stand in for ours.
        report: What is written.
        file: Where.

    Returns:
        What is to be known beside that; empty for nothing.

    Raises:
        UsageError: The name says no format.
        WorkspaceError: It cannot be written, or a template of the workspace is malformed.
    """
    from judge_tui.reports.data import as_csv, as_json, as_jsonl
    from judge_tui.reports.rendering import TEMPLATES, html, markdown

    suffix = file.suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"{file.name or 'nothing'} says no format.", hint=f"End it in {', '.join(FORMATS)}")
    own, told = None, ""
    try:
        own = kept_inside(workspace.root / TEMPLATES, workspace.root)
    except JudgeError as error:
        told = str(error)
    data = {".json": as_json, ".jsonl": as_jsonl, ".csv": as_csv}
    if suffix in data:
        text = data[suffix](report)
    else:
        text = html(report, own) if suffix == ".html" else markdown(report, own)
    write_atomically(file, text.encode())
    return told
