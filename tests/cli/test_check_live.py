"""The command with the real engine, on a tree of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "judge_tui.cli", "check"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two models for backwards: one that loads, and one without a file."""
    (tmp_path / "tree" / "plain" / "backwards").mkdir(parents=True)
    (tmp_path / "tree" / "plain" / "backwards" / "layer_norm.py").write_text(
        "def forward(x):\n    return x\n"
    )
    (tmp_path / "tree" / "absent" / "backwards").mkdir(parents=True)
    return tmp_path / "tree"


def test_one_object_with_a_verdict_for_each_submission_and_nothing_written_beside_them(tree: Path) -> None:
    options = ["--submissions", str(tree), "--all", "--check", "loads", "--format", "json", "--trust"]
    done = subprocess.run([*COMMAND, *options], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    found = {outcome["model"]: outcome for outcome in report["outcomes"]}
    assert found["plain"]["verdict"] == "pass"
    assert found["absent"]["verdict"] == "skip"
    assert "no submission" in found["absent"]["summary"]
    assert sorted(p.name for p in tree.rglob("*")) == [
        "absent",
        "backwards",
        "backwards",
        "layer_norm.py",
        "plain",
    ]


def test_an_unknown_check_lists_the_near_ones(tree: Path) -> None:
    options = ["--submissions", str(tree), "--all", "--check", "gradient"]
    done = subprocess.run([*COMMAND, *options], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "gradients" in done.stderr


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_ends_at_once_with_its_code(
    tree: Path, sent: signal.Signals, code: int
) -> None:
    (tree / "plain" / "backwards" / "layer_norm.py").write_text("import time\ntime.sleep(600)\n")
    options = ["--submissions", str(tree), "--all", "--check", "purity", "--trust"]
    running = subprocess.Popen(
        [*COMMAND, *options], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    while running.poll() is None and not children.read_text():
        time.sleep(0.05)
    running.send_signal(sent)
    try:
        # at once: long before the submission has slept, however busy the machine is
        _, err = running.communicate(timeout=120)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == code
    assert b"Traceback" not in err
