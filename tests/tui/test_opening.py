"""What is off with a workspace is told before a screen opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import run_compare


@pytest.mark.parametrize(
    ("file", "content", "line"),
    [
        ("scores/kv/alpha/anna.toml", 'schema = 1\ntask = "kv"\nmodel = [', 3),
        ("rubrics/kv.toml", 'task = "kv"\ntitle = "KV"\nversion = "new"\n', None),
        ("submissions/beta/kv/submission.toml", "origin = 3\n", None),
    ],
)
def test_a_file_that_is_off_is_one_error_and_no_screen(
    workspace: Workspace, file: str, content: str, line: int | None
) -> None:
    path = workspace.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    found = Workspace.find(explicit=workspace.root)
    submissions = [found.submission(model, "kv") for model in ("alpha", "beta")]
    with pytest.raises(JudgeError) as raised:
        run_compare(workspace=found, submissions=submissions, judge="anna")
    assert Path(raised.value.file or "") == path
    assert line is None or raised.value.line == line
