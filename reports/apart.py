"""A workspace's own template, rendered by a process with bounds: a stranger's may never come to an end.

The sandbox of the template engine keeps a template from everything but its report; it keeps none from a
loop without end, or from a text larger than memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.folders import is_inside
from judge_tui.judging.summaries.parts import Report
from judge_tui.reports.data import as_json

__all__ = ["BYTES", "SECONDS", "rendered_apart"]

#: Seconds and bytes that a template may take.
SECONDS, BYTES = 20, 1 << 30
_HINT = "Mend it, or take it away: ours stands in its place then."


def rendered_apart(file: Path, report: Report, pictures: Mapping[str, str]) -> str:
    """A report by a workspace's own template.

    Args:
        file: The template: ``report.html.j2`` or ``report.md.j2``.
        report: The report.
        pictures: Anchor of a plot → address of its picture, for Markdown.

    Raises:
        WorkspaceError: It lies elsewhere, is malformed, asks for what it may not, or does not come to an end.
    """
    if not is_inside(file, file.parent):
        raise WorkspaceError(
            "leads out of its folder, and is not read.", hint="Put the template itself there.", file=file
        )
    asked = json.dumps({"file": str(file), "report": as_json(report), "pictures": dict(pictures)})
    command = [sys.executable, "-P", "-m", "judge_tui.reports.own_template"]
    try:
        ended = subprocess.run(
            command, input=asked.encode(), capture_output=True, timeout=SECONDS, check=False, cwd="/"
        )
        told = json.loads(ended.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise WorkspaceError(
            f"the template does not come to an end within {SECONDS} seconds and {BYTES >> 30} GiB.",
            hint=_HINT, file=file,
        ) from error  # fmt: skip
    if "text" in told:
        return str(told["text"])
    raise WorkspaceError(told["message"], hint=_HINT, file=file, line=told["line"])
