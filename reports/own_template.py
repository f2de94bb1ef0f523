"""The process that renders a workspace's own template, within its bounds: ``python -m`` this."""

from __future__ import annotations

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path

from judge_tui.checks.errors import WorkspaceError
from judge_tui.reports.apart import BYTES, SECONDS
from judge_tui.reports.reading import read_report
from judge_tui.reports.rendering import by_own_template

__all__ = ["main"]


def main() -> None:
    """Render what standard input asks for, and say it as JSON."""
    for bound, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_AS, BYTES)):
        with suppress(ValueError, OSError):
            resource.setrlimit(bound, (most, most))
    asked = json.loads(sys.stdin.buffer.read())
    try:
        text = by_own_template(Path(asked["file"]), read_report(asked["report"]), asked["pictures"])
        told: dict[str, object] = {"text": text}
    except WorkspaceError as error:
        told = {"message": error.message, "line": error.line}
    sys.stdout.buffer.write(json.dumps(told).encode())


if __name__ == "__main__":
    main()
