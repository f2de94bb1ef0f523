"""The comparison is put together of parts, not inherited from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui import screens
from judge_tui.tui.screens.compare import CompareScreen
from judge_tui.tui.textual_private.covered import CoveredScreen
from tests.tui.conftest import make_app, running

SCREENS = sorted(Path(screens.__file__).parent.rglob("*.py"))


def test_a_comparison_inherits_from_nothing_of_ours_but_what_a_screen_needs() -> None:
    ours = [kind for kind in CompareScreen.__mro__ if kind.__module__.startswith("judge_tui.")]
    assert ours == [CompareScreen, CoveredScreen]


def stubs(tree: ast.Module) -> Iterator[str]:
    """Functions that classes only claim to have."""
    for kind in ast.walk(tree):
        for part in kind.body if isinstance(kind, ast.ClassDef) else ():
            if isinstance(part, ast.If):
                yield from (one.name for one in ast.walk(part) if isinstance(one, ast.FunctionDef))


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_no_screen_claims_methods_that_others_bring(path: Path) -> None:
    assert not list(stubs(ast.parse(path.read_text("utf-8"))))


async def test_outcomes_are_kept_once(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        assert app.compare.session.outcomes
        assert app.compare.checks_pane.outcomes is app.compare.session.outcomes
        app.compare.session.forget("alpha")
        assert app.compare.checks_pane.outcomes is app.compare.session.outcomes
