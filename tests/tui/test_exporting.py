"""The scoreboard, exported from within the program: what is written, and why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.export import BEGIN, END
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp

from .at_home import make_home, ready, score
from .conftest import Driver, make_app, running
from .test_saving import block

EMPTY = f"mine\n{BEGIN}\n{END}\nmine too\n"


@pytest.fixture
def readme(workspace: Workspace) -> Path:
    path = workspace.root / "README.md"
    path.write_text(EMPTY)
    return path


def told(driver: Driver) -> str:
    return " ".join(note.message for note in driver.app._notifications)


async def export(driver: Driver, *keys: str) -> str:
    """Press the keys of an export, and what is said of it."""
    driver.app.clear_notifications()
    await driver.press("W", *keys, "enter")
    await driver.until(lambda: told(driver))
    return told(driver)


async def test_a_comparison_exports_what_was_scored_the_moment_before(
    workspace: Workspace, readme: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as driver:
        await driver.press("s", "c", "8", "5", "t", "9", "5")
        assert await export(driver) == "README.md: the scoreboard is written."
        text = readme.read_text()
        assert "| Alpha | 88 B |" in text
        assert text.startswith("mine\n")
        assert text.endswith("mine too\n")
        assert await export(driver) == "README.md: the scoreboard is up to date."
        assert readme.read_text() == text


async def test_home_exports_and_the_palette_finds_it(workspace: Workspace, readme: Path) -> None:
    score(workspace, "beta", 77)
    async with running(make_home(workspace)) as driver:
        await ready(driver)
        await driver.press("ctrl+p", *"export")
        await driver.until(lambda: "Export the scoreboard" in driver.text())
        await driver.press("enter")
        await driver.until(lambda: "Export the scoreboard into" in driver.text())
        assert "README.md" in driver.text()
        await driver.press("enter")
        await driver.until(lambda: told(driver))
        assert "| Beta | 77 B |" in readme.read_text()


async def test_another_file_is_meant_from_the_workspace_or_by_its_whole_path(
    workspace: Workspace, tmp_path: Path
) -> None:
    score(workspace, "beta", 77)
    (workspace.root / "docs").mkdir()
    async with running(make_home(workspace)) as driver:
        await ready(driver)
        for path, typed in (
            (workspace.root / "docs" / "board.md", "docs/board.md"),
            (tmp_path / "board.md", str(tmp_path / "board.md")),
        ):
            path.write_text(EMPTY)
            keys = ["slash" if one == "/" else one for one in typed]
            assert (
                await export(driver, "home", *["delete"] * 9, *keys) == f"{typed}: the scoreboard is written."
            )
            assert "| Beta | 77 B |" in path.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "there is no such file."), ("# mine\n", "the marker <!-- judge-tui:scoreboard --> is missing.")],
)
async def test_why_nothing_is_written_is_told_and_the_file_stays(
    workspace: Workspace, text: str | None, said: str
) -> None:
    path = workspace.root / "README.md"
    if text is not None:
        path.write_text(text)
    async with running(make_home(workspace)) as driver:
        await ready(driver)
        assert f"{path}: {said}" in await export(driver)
    assert (path.read_text() if path.exists() else None) == text


async def test_what_cannot_be_saved_is_not_left_out_of_an_export_in_silence(
    workspace: Workspace, readme: Path
) -> None:
    async with running(make_app(workspace, engine=None)) as driver:
        block(workspace.root / "scores" / "kv")
        await driver.press("s", "c", "8", "5")
        await driver.until(lambda: "NOT SAVED" in driver.text())
        assert "Nothing is exported: what was changed last is not saved." in await export(driver)
    assert readme.read_text() == EMPTY


async def test_nothing_is_exported_while_names_are_hidden_and_home_says_what_is_left_out(
    workspace: Workspace, readme: Path
) -> None:
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(workspace, submissions, "anna", blind=True)) as driver:
        await driver.press("s", "c", "8", "5")
        driver.app.clear_notifications()
        await driver.press("W")
        assert "once they are revealed" in told(driver)
        assert driver.app.screen is driver.compare
    assert readme.read_text() == EMPTY
    async with running(make_home(workspace)) as driver:
        await ready(driver)
        assert "2 scorecards of blind comparisons left out" in await export(driver)
    assert "Alpha" not in readme.read_text()
