"""No lazy submission passes a built-in task."""

from __future__ import annotations

import pytest

from judge_tui.checks.task import load_task, task_names
from judge_tui.checks.trying.built_in import tried_built_in


@pytest.mark.campaign
@pytest.mark.parametrize("name", task_names())
def test_no_lazy_submission_passes(name: str) -> None:
    tried = list(tried_built_in(load_task(name)))
    assert len(tried) >= 6
    assert all(each.fine for each in tried), "\n".join(f"{each.name}: {each.told}" for each in tried)
