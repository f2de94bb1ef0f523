"""A key has an edit looked for that mends what a submission failed; what is found stands in its evidence."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace

from .conftest import ENGINE, HANGING, make_app, running

#: Tells of an edit where one is asked for.
MENDING = ENGINE.replace(
    "END",
    """
if request.get("repair"):
    who = [s["model"] for s in request["submissions"]]
    assert who == ["beta"] and not request.get("fresh"), request
    tell(type="started", model="beta", task=request["task"], check="accuracy")
    tell(type="progress", model="beta", task=request["task"], check="accuracy",
         note="one edit that mends it: 3 of 9 tried, 1 judged", fraction=0.5)
    tell(type="finished", again=True, outcome=dict(
        model="beta", task=request["task"], check="accuracy", verdict="fail",
        summary="rel err 0.032; kv_cache.py:15: passes with key + 1 in place of key",
        seconds=0.25, seed=7, backend="cpu", device="NumPy", sandbox="full",
        evidence=[dict(quantity="one edit that mends it", measured=1, file="kv_cache.py", line=15,
                       note="With it no check fails.", output="-old\\n+new")]))
""",
)


async def test_a_key_looks_for_an_edit_and_its_line_is_a_key_away(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=MENDING)) as app:
        await app.settle()
        outcomes = app.compare.session.outcomes
        await app.press("c", "g")
        rows = app.compare.checks_pane.rows
        assert rows.cell == ("beta", "accuracy")
        await app.press("p")
        await app.until(lambda: "passes with" in outcomes["beta", "accuracy"].summary)
        assert "An edit is looked for that mends Beta." in app.messages()
        await app.settle()
        assert not app.compare.runner.active
        await app.press("o")
        pane = app.compare.panes[1]
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 14)


async def test_while_checks_run_none_is_looked_for(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=HANGING)) as app:
        await app.until(lambda: len(app.compare.session.outcomes) == 6)
        await app.press("c", "g", "p")
        assert "Checks still run: an edit is looked for once all are done." in app.messages()


async def test_where_nothing_failed_nothing_is_looked_for(workspace: Workspace) -> None:
    async with running(make_app(workspace, models=("alpha", "beta"))) as app:
        await app.settle()
        await app.press("c", "g", "h", "p")
        assert app.compare.checks_pane.rows.cell == ("alpha", "accuracy")
        assert "Alpha failed no check: there is nothing to mend." in app.messages()
        assert not app.compare.runner.active
