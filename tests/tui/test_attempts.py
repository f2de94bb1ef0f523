"""Attempts on the screen: compared and scored by keys, hidden while blind, and told on Home."""

from __future__ import annotations

import shutil

import pytest

from judge_tui.checks.passing import Whole
from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.matchup import load_matchups
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions

from .at_home import make_home, opened, ready, score
from .conftest import make_app, running
from .test_home import store_verdicts


@pytest.fixture
def repeated(workspace: Workspace) -> Workspace:
    """Two models, the first of which has answered three times, the third time as the first."""
    for number in (2, 3):
        tree = workspace.submissions / "alpha"
        shutil.copytree(tree / "kv", tree / f"kv@{number}")
    (workspace.submissions / "alpha" / "kv@2" / "helpers.py").write_text("def helper():\n    return 2\n")
    return workspace


async def test_two_attempts_are_compared_and_scored_by_keys_on_cards_of_their_own(
    repeated: Workspace,
) -> None:
    async with running(make_app(repeated, ("alpha", "alpha@2"))) as driver:
        await driver.settle()
        assert "Alpha @2" in driver.text()
        assert driver.compare.session.titles == ("Alpha", "Alpha @2")
        await driver.press("s", "c", "8", "5", "t", "7", "0", "w", "c", "6", "0", "t", "7", "0", "escape")
        await driver.press("M", "space", "escape")
    first = load_scorecard(repeated.root / "scores" / "kv" / "alpha" / "anna.toml")
    second = load_scorecard(repeated.root / "scores" / "kv" / "alpha@2" / "anna.toml")
    assert (first.model, first.score("correctness")) == ("alpha", 85)
    assert (second.model, second.score("correctness")) == ("alpha@2", 60)
    (matchup,) = load_matchups(repeated.matchups_path("kv", "anna")).matchups
    assert (set(matchup.models), matchup.winner) == ({"alpha", "alpha@2"}, "alpha")
    assert second.submission == repeated.submission("alpha@2", "kv").digest


async def test_neither_the_name_nor_the_number_of_an_attempt_is_shown_blind(repeated: Workspace) -> None:
    helpers = repeated.submissions / "alpha" / "kv@2" / "helpers.py"
    helpers.write_text("# by Alpha @2, see alpha/kv@2/helpers.py\ndef helper():\n    return 2\n")
    submissions = [repeated.submission(model, "kv") for model in ("alpha", "alpha@2")]
    app = JudgeApp(repeated, submissions, "anna", EngineOptions(command=None), blind=True)
    async with running(app) as driver:
        await driver.press("right_square_bracket")
        session = driver.compare.session
        told = session.hide(f"{submissions[1].path}: cannot be read; alpha@2, Alpha @2, kv@2, kv@3")
        for text in (driver.text(), told, *session.titles):
            assert "@2" not in text
            assert "@3" not in text
            assert "lpha" not in text


async def test_home_has_a_row_for_each_attempt_and_tells_what_they_come_to(repeated: Workspace) -> None:
    Store().remember(repeated.submission("alpha", "kv"), Whole({"check_0": 1}, {"cache": ("check_0",)}))
    score(repeated, "alpha", 60)
    score(repeated, "alpha@2", 80)
    store_verdicts(repeated, "alpha", [Verdict.PASS])
    store_verdicts(repeated, "alpha@2", [Verdict.FAIL])
    async with running(make_home(repeated), (200, 45)) as app:
        await ready(app)
        rows = [line.split("  ")[0].strip() for line in app.text().split("\n")[2:6]]
        assert rows == ["Alpha", "Alpha @2", "Alpha @3", "Beta"]
        assert (
            "3 attempts · best 80 (@2) · mean 66.7 ± 11.5 (n = 3) · 2 of 3 checked pass · pass@1 67 % · "
            "pass@2 100 % · pass@3 100 % · @3 = @1"
        ) in app.text()
        await app.press("j", "j", "j")
        assert "attempts" not in app.text()


async def test_attempts_are_marked_and_opened_from_home(repeated: Workspace) -> None:
    async with running(make_home(repeated)) as app:
        await ready(app)
        await app.press("space", "j", "space", "enter")
        assert await opened(app) == ("alpha", "alpha@2")


async def test_home_says_nothing_of_attempts_that_are_judged_blind(repeated: Workspace) -> None:
    submissions = [repeated.submission(model, "kv") for model in ("alpha", "alpha@2")]
    async with running(JudgeApp(repeated, submissions, "anna", blind=True)) as app:
        await app.press("s", "c", "8")
    for model in ("alpha", "alpha@2"):
        store_verdicts(repeated, model, [Verdict.PASS])
    async with running(make_home(repeated), (200, 45)) as app:
        await ready(app)
        assert "attempts" not in app.text()
