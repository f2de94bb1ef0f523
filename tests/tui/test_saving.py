"""What the screen says about a disk that takes nothing."""

from __future__ import annotations

from pathlib import Path

from judge_tui.judging.scorecard import FileStamp, load_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.question import Question

from .conftest import Driver, keep, make_app, make_workspace, running


def block(path: Path) -> Path:
    """A file where a folder of scores should be: root may write anywhere, so permissions prove nothing."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("in the way")
    return path


async def test_a_disk_that_takes_nothing_is_told_once_and_not_at_every_key(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        block(workspace.root / "scores" / "kv")
        for key in "sc85t70":
            await driver.press(key)
            driver.compare.session.flush()
        await driver.until(lambda: "NOT SAVED" in driver.text())
        assert len(driver.app._notifications) == 1


async def test_saving_again_is_what_ctrl_s_says_it_is(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        blocked = block(workspace.root / "scores" / "kv")
        await driver.press("s", "c", "8", "5")
        await driver.until(lambda: "NOT SAVED" in driver.text())
        await driver.press("ctrl+s")
        assert "Every change is saved" not in driver.text()
        blocked.unlink()
        await driver.press("ctrl+s")
        await driver.until(lambda: "saved 12:00:00" in driver.text())
        assert load_scorecard(driver.compare.session.paths[0]).score("correctness") == 85


async def test_a_card_that_is_saved_does_not_hide_one_that_is_not(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        block(workspace.root / "scores" / "kv" / "alpha")
        await driver.press("s", "c", "8", "5", "w", "c", "7", "0")
        driver.compare.session.flush()
        await driver.until(lambda: "NOT SAVED" in driver.text())
        assert load_scorecard(driver.compare.session.paths[1]).score("correctness") == 70
        assert "NOT SAVED" in driver.text()


async def test_leaving_asks_when_work_is_neither_saved_nor_kept(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        block(workspace.root / "scores" / "kv")
        await driver.press("s", "c", "8", "q")
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.press("escape")
        assert driver.app.screen is driver.compare
        await driver.press("q")
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.press("l")
        await driver.until(lambda: not driver.app.is_running or driver.app._exit)


async def test_leaving_does_not_ask_when_work_is_kept(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        block(workspace.root / "scores" / "kv")
        await driver.press("s", "c", "8", "q")
        await driver.until(lambda: driver.app._exit)


def told(driver: Driver) -> str:
    return " ".join(one.message for one in driver.app._notifications)


async def test_work_of_an_earlier_run_and_a_newer_card_on_disk_are_told_and_asked_about(
    workspace: Workspace,
) -> None:
    path = workspace.scorecard_path("kv", "alpha", "anna")
    card, _ = workspace.scorecard("kv", "alpha", "anna")
    save_scorecard(path, card.with_score("correctness", 75), None)
    keep(path, card.with_score("correctness", 90), FileStamp.of(b"an older state"))
    async with running(make_app(workspace)) as driver:
        await driver.until(lambda: "press ! to settle" in driver.text())
        assert "A: Unsaved work of an earlier run is kept" in told(driver)
        assert "newer: ! asks about what both" in told(driver)
        assert load_scorecard(path).score("correctness") == 75
        await driver.press("!")
        assert "Correctness: 90 here, 75 there" in driver.text()
        await driver.press("r")
        await driver.until(lambda: "saved 12:00:00" in driver.text())
        # what was told of the conflict went with it
        assert "unsaved work" not in told(driver)
        assert load_scorecard(path).score("correctness") == 75
        await driver.press("u")
        await driver.until(lambda: load_scorecard(path).score("correctness") == 90)


async def test_a_file_that_cannot_be_read_is_told_and_kept_aside(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("s", "c", "8", "5")
        driver.compare.session.flush()
        path = driver.compare.session.paths[0]
        path.write_bytes(b"<<<<<<< HEAD\n")
        await driver.press("t", "7", "0")
        await driver.until(lambda: "press ! to settle" in driver.text())
        await driver.press("!", "r")
        await driver.until(lambda: "anna.toml:1" in told(driver))
        assert path.read_bytes() == b"<<<<<<< HEAD\n"
        assert "press ! to settle" in driver.text()
        await driver.press("!", "o")
        await driver.until(lambda: "anna.toml.unreadable" in told(driver))
        await driver.until(lambda: "saved 12:00:00" in driver.text())
        assert load_scorecard(path).score("correctness") == 85
        assert path.with_name("anna.toml.unreadable").read_bytes() == b"<<<<<<< HEAD\n"


async def test_leaving_an_unsettled_conflict_is_asked_about(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("s", "c", "8", "5")
        driver.compare.session.flush()
        path = driver.compare.session.paths[0]
        save_scorecard(path, load_scorecard(path).with_score("tests", 40), FileStamp.of(path.read_bytes()))
        await driver.press("t", "7", "0")
        await driver.until(lambda: "press ! to settle" in driver.text())
        await driver.press("q")
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        assert "! settles it now" in driver.text()
        await driver.press("l")
        await driver.until(lambda: driver.app._exit)
    assert load_scorecard(path).score("tests") == 40


async def test_at_80_columns_the_header_of_three_says_that_work_is_saved_or_not(
    workspace: Workspace, tmp_path: Path
) -> None:
    models = ("kimi-k2.6-thinking", "minimax-m2.7-high", "qwen3.6-27b-long")
    three = make_workspace(tmp_path / "three", models)

    def header(driver: Driver) -> str:
        return driver.text().split("\n")[0]

    async with running(make_app(three, models), (80, 24)) as driver:
        await driver.settle()
        # that nothing is changed goes before who judges
        await driver.until(lambda: "anna" in header(driver))
        await driver.press("s", "c", "8", "5")
        await driver.until(lambda: header(driver).rstrip().endswith(" saved"))
        assert all(model.title() in header(driver) for model in models)
        block(three.root / "scores" / "kv" / models[1])
        await driver.press("w", "c", "9", "0")
        await driver.until(lambda: "NOT SAVED" in header(driver))
        (three.root / "scores" / "kv" / models[1]).unlink()
    async with running(make_app(three, models), (160, 24)) as driver:
        await driver.settle()
        await driver.press("s", "t", "8", "5")
        await driver.until(lambda: "saved 12:00:00" in header(driver))
    async with running(make_app(three, models), (160, 24)) as driver:
        # what stands there was saved by an earlier run
        await driver.until(lambda: "sandbox full · as on disk" in header(driver))
