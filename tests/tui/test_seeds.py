"""Verdicts in view are about the inputs of one seed."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace

from .conftest import ENGINE, Driver, make_app, running

#: An engine that keeps to the seed that it is asked for, and draws 99 for what is asked for anew.
DRAWING = ENGINE.replace("seed=7", "seed=seed").replace(
    'fresh = request.get("fresh", False)',
    'fresh = request.get("fresh", False)\nseed = request.get("seed") or (99 if fresh else 7)',
)


def seeds(app: Driver) -> set[int]:
    return {outcome.seed for outcome in app.compare.session.outcomes.values()}


async def judged(app: Driver) -> None:
    await app.until(lambda: len(app.compare.session.outcomes) == 6 and not app.compare.runner.active)


async def test_a_check_that_runs_again_keeps_the_seed_and_all_of_them_get_a_new_one(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=DRAWING)) as app:
        await judged(app)
        assert seeds(app) == {7}
        await app.until(lambda: "seed 7 " in app.text())
        before = set(map(id, app.compare.session.outcomes.values()))
        app.compare.checks_pane.rows.focus()
        await app.press("r")
        await app.until(lambda: set(map(id, app.compare.session.outcomes.values())) != before)
        await judged(app)
        assert seeds(app) == {7}
        await app.press("R")
        await app.until(lambda: 99 in seeds(app))
        await judged(app)
        assert seeds(app) == {99}
        await app.until(lambda: "seed 99 " in app.text())
        await app.press("r")
        await judged(app)
        assert seeds(app) == {99}


async def test_a_run_under_a_new_seed_that_is_broken_off_leaves_no_verdict_of_the_old_one(
    workspace: Workspace,
) -> None:
    slow = DRAWING.replace(
        "        bad = check", "        if fresh and check == 'size': time.sleep(600)\n        bad = check"
    )
    async with running(make_app(workspace, engine=slow)) as app:
        await judged(app)
        app.compare.checks_pane.rows.focus()
        await app.press("R")
        await app.until(lambda: 99 in seeds(app))
        await app.press("x")
        await app.until(lambda: not app.compare.runner.active)
        assert seeds(app) == {99}
        assert app.compare.checks_pane.seed == 99
