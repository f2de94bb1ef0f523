"""An unusual KV cache is judged through an adapter of under 30 lines; its page says what is so."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.bound import searched
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Verdict

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "kv_adapter"


def submitted(folder: Path, *names: str) -> Submission:
    """The cache, and the judge's adapter for it in a tree of their own."""
    place, judges = folder / "submissions" / "somebody" / "kv", folder / "bindings" / "somebody" / "kv"
    for name in names:
        target = judges if name == "adapter.py" else place
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLE / name, target)
    return Submission.at(place, bindings=folder / "bindings")


def test_nothing_binds_without_it_and_what_is_needed_with_it(tmp_path: Path) -> None:
    task = load_task("kv")
    assert not searched(task, submitted(tmp_path / "bare", "shelf.py")).found
    found = searched(task, submitted(tmp_path / "adapted", "shelf.py", "adapter.py")).found
    assert {"create", "append", "attend"} <= set(found)
    assert {found[role].origin for role in ("create", "append", "attend")} == {"adapter.py"}


def test_the_cache_is_judged_rightly_through_it(tmp_path: Path) -> None:
    task, right = load_task("kv"), submitted(tmp_path / "right", "shelf.py", "adapter.py")
    checks = ("incremental_equals_full", "capacity")
    outcomes = judge(task, right, seed=6, checks=checks)
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.PASS}, outcomes
    wrong = submitted(tmp_path / "wrong", "shelf.py", "adapter.py")
    text = (wrong.path / "shelf.py").read_text()
    (wrong.path / "shelf.py").write_text(text.replace(" / math.sqrt(len(ask))", ""))
    outcome = judge(task, replace(wrong), seed=6, checks=checks[:1])[checks[0]]
    assert outcome.verdict is Verdict.FAIL


@pytest.mark.parametrize("name", ["shelf.py", "adapter.py"])
def test_the_page_quotes_the_files_that_are_tested(name: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)\n```$", (DOCS / "binding.md").read_text(), re.M | re.S)
    assert (EXAMPLE / name).read_text().strip() in blocks


def test_the_adapter_has_under_thirty_lines() -> None:
    lines = (EXAMPLE / "adapter.py").read_text().strip().splitlines()
    assert len(lines) < 30
    assert f"Its adapter has {len(lines)} lines" in (DOCS / "binding.md").read_text()
