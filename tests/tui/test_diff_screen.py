"""A function of two submissions, line beside line."""

from __future__ import annotations

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens import diff
from judge_tui.tui.screens.diff import DiffScreen

from .conftest import Driver, make_app, running


def write(workspace: Workspace, model: str, lines: list[str]) -> None:
    text = "\n".join(["def f():", *(f"    {line}" for line in lines)])
    (workspace.root / "submissions" / model / "kv" / "kv_cache.py").write_text(text + "\n")


async def opened(app: Driver) -> DiffScreen:
    await app.settle()
    await app.press("d")
    await app.until(lambda: isinstance(app.app.screen, DiffScreen))
    assert isinstance(app.app.screen, DiffScreen)
    return app.app.screen


async def test_a_row_is_compared_by_words_once_however_often_it_is_drawn(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def changed(ours: str, theirs: str) -> list[tuple[int, int]]:
        compared.append(ours.strip())
        return [(4, 5)]

    monkeypatch.setattr(diff, "changed", changed)
    write(workspace, "alpha", ["a = first(1)", "b = second(1)"])
    write(workspace, "beta", ["a = first(2)", "b = second(2)"])
    async with running(make_app(workspace)) as app:
        await opened(app)
        await app.press("j", "j", "k", "l", "h", "n", "N")
        assert sorted(compared) == ["a = first(1)", "a = first(2)", "b = second(1)", "b = second(2)"]


async def test_what_a_diff_leaves_out_for_its_size_is_said_above_it(workspace: Workspace) -> None:
    for model, value in (("alpha", "1"), ("beta", "2")):
        write(workspace, model, [f"a = [{value * 3000}]", "return a"])
    async with running(make_app(workspace)) as app:
        await opened(app)
        assert "lines over 2,000 characters are paired when equal · 2 of 4 lines the same" in app.text()


async def test_differences_are_stepped_through_both_ways_and_by_counts(workspace: Workspace) -> None:
    write(workspace, "alpha", [f"a{n} = {n}" for n in range(20)])
    write(workspace, "beta", [f"a{n} = {n if n % 5 else 'something_else'}" for n in range(20)])
    async with running(make_app(workspace)) as app:
        rows = (await opened(app)).rows
        await app.press("n", "n")
        second = rows.cursor
        await app.press("n", "N")
        assert rows.cursor == second
        await app.press("2", "n", "2", "N")
        assert rows.cursor == second
        await app.press("9", "N")
        assert 0 < rows.cursor < second
