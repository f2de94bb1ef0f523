"""A framework is refused when it is imported, however it is spelled; one that nothing leads to warns."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from textwrap import dedent

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.sandbox import packages
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome, Verdict

#: A module that every worker has, taken for a framework here.
NAME = "sqlite3"
RIGHT = """
def scale_forward(x, factor):
    return x * factor, (x, factor)


def scale_backward(dy, cache):
    x, factor = cache
    return dy * factor, (dy * x).sum(0)
"""
SPELLED = {
    "in pieces": """
        import importlib
        help_ = getattr(importlib, 'import_' + 'module')('sqli' + 'te3').connect
    """,
    "as text": """
        exec('import sqli' + 'te3 as helping')
        help_ = helping.connect
    """,
    "by the builtin": """
        import builtins
        help_ = getattr(builtins, '__imp' + 'ort__')('sqli' + 'te3').connect
    """,
    "by a spec": """
        import importlib.util
        found = importlib.util.find_spec('sqli' + 'te3')
        help_ = importlib.util.module_from_spec(found)
        found.loader.exec_module(help_)
        help_.connect
    """,
    "past the finders": """
        import importlib, sys
        sys.meta_path[:] = sys.meta_path[1:]
        help_ = importlib.import_module('sqli' + 'te3').connect
    """,
}
NOWHERE = {
    "in a function that nothing calls": """
        def by_hand(x):
            import sqlite3
            return sqlite3.connect(x)
    """,
    "in a branch that is not taken": """
        import os
        if os.environ.get('FAST'):
            import sqlite3
            print(sqlite3)
    """,
    "for a type checker": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            import sqlite3
        def shown(x: 'sqlite3.Row'):
            return sqlite3
    """,
    "behind a return": """
        def shown(x):
            return x
            import sqlite3
            return sqlite3.connect(x)
        shown(1)
    """,
    "in its main block": """
        if __name__ == '__main__':
            import sqlite3
            print(sqlite3.connect)
    """,
    "with a way round": """
        try:
            import sqlite3
            help_ = sqlite3.connect
        except ImportError:
            help_ = None
    """,
}
REACHED = {
    "by its file": """
        import sqlite3
        print(sqlite3.connect)
    """,
    "by a function that it calls": """
        def made():
            import sqlite3
            return sqlite3
        made()
    """,
    "in a branch that is taken": """
        import os
        if not os.environ.get('FAST'):
            import sqlite3
        help_ = lambda: sqlite3
    """,
    "by a name that a role may have": """
        def forward_fast(x):
            import sqlite3
            return sqlite3.connect(x)
    """,
}
Submit = Callable[..., Submission]


@pytest.fixture(autouse=True)
def framework(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "FRAMEWORKS", frozenset({NAME}))
    # the module, which the check of its name hides
    loads = importlib.import_module("judge_tui.checks.generic.loads")
    monkeypatch.setattr(loads, "FORBIDDEN", frozenset({NAME}))


def loaded(scale: Task, submission: Submission) -> Outcome:
    return judge(scale, submission, seed=1, checks=["loads"])["loads"]


@pytest.mark.parametrize("spelling", SPELLED)
def test_however_it_is_spelled_it_is_refused(spelling: str, scale: Task, submitted: Submit) -> None:
    outcome = loaded(scale, submitted(dedent(SPELLED[spelling]) + RIGHT))
    assert outcome.verdict is Verdict.FAIL
    assert NAME in outcome.summary + "".join(str(item.measured) for item in outcome.evidence)


@pytest.mark.parametrize("place", NOWHERE)
def test_an_import_that_nothing_leads_to_warns(place: str, scale: Task, submitted: Submit) -> None:
    outcomes = judge(scale, submitted(dedent(NOWHERE[place]) + RIGHT), seed=1, checks=["loads", "right"])
    assert outcomes["loads"].verdict is Verdict.WARN, outcomes["loads"]
    assert outcomes["right"].verdict is Verdict.PASS


@pytest.mark.parametrize("place", REACHED)
def test_one_that_is_reached_fails(place: str, scale: Task, submitted: Submit) -> None:
    assert loaded(scale, submitted(dedent(REACHED[place]) + RIGHT)).verdict is Verdict.FAIL
