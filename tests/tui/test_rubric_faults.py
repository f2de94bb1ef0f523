"""What is off with a rubric or a card, and is no reason not to open: told once, with file and line."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions

from .conftest import Driver, make_app, running


def told(driver: Driver, words: str) -> list[str]:
    return [note.message for note in driver.app._notifications if words in note.message]


def stray(workspace: Workspace, model: str) -> str:
    path = workspace.scorecard_path("kv", model, "anna")
    path.parent.mkdir(parents=True)
    path.write_text(f'task = "kv"\nmodel = "{model}"\njudge = "anna"\n[dimensions.testes]\nscore = 5\n')
    return str(path)


async def test_a_check_that_the_task_has_not_is_told_on_opening_and_not_again(workspace: Workspace) -> None:
    path = workspace.rubric_path("kv")
    path.write_text(path.read_text().replace('if = "accuracy fails"', 'if = "acuracy fails"'))
    line = path.read_text().splitlines().index('if = "acuracy fails"') + 1
    async with running(make_app(workspace)) as app:
        await app.settle()
        [said] = told(app, "has no check")
        assert said == f"{path}:{line}: the task kv has no check 'acuracy'. Did you mean accuracy?"
        app.app.clear_notifications()
        await app.press("c", "R")
        await app.settle()
        assert told(app, "has no check") == []


async def test_a_rubric_whose_checks_there_are_says_nothing(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        assert told(app, "has no") == []


async def test_a_dimension_that_the_rubric_has_not_is_told_on_opening_and_kept(workspace: Workspace) -> None:
    path = stray(workspace, "beta")
    async with running(make_app(workspace)) as app:
        await app.settle()
        [said] = told(app, "has no dimension")
        assert said.startswith(f"B: {path}:4: the rubric of kv has no dimension 'testes'")
        assert said.endswith("Did you mean tests?")
        await app.press("s", "w", "8", "5")
        app.compare.session.flush()
    assert workspace.scorecard("kv", "beta", "anna")[0].score("testes") == 5


async def test_a_blind_comparison_names_nobody_for_it(workspace: Workspace) -> None:
    stray(workspace, "beta")
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    blind = JudgeApp(workspace, submissions, "anna", EngineOptions(command=None), blind=True)
    async with running(blind) as app:
        await app.until(lambda: told(app, "has no dimension"))
        [said] = told(app, "has no dimension")
        assert "beta" not in said
