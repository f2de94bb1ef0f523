"""The key that switches the backend of a comparison's checks."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace

from .conftest import ENGINE, make_app, running

_TOLD = 'for s in request["submissions"] for c, t in checks])'


def engine_of(*backends: str) -> str:
    """An engine for a task with some backends; ``auto`` is the first, and the emulator does not work."""
    told = _TOLD.replace("])", f"], backends={list(backends)}, backend=chosen)")
    chosen = (
        'asked = request.get("backend", "auto")\n'
        f'chosen = "{backends[0]}" if asked == "auto" else asked\n'
        'if chosen == "emulator":\n'
        '    tell(type="failed", message="backend emulator does not work here")\n'
        "    sys.exit(2)\n"
        'tell(type="planned"'
    )
    engine = ENGINE.replace(_TOLD, told).replace('tell(type="planned"', chosen)
    return engine.replace('backend="cpu"', "backend=chosen")


async def test_a_key_switches_the_backend_and_runs_the_checks_there(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=engine_of("gpu", "cpu"))) as app:
        await app.settle()
        assert {o.backend for o in app.compare.session.outcomes.values()} == {"gpu"}
        await app.press("c", "b")
        await app.until(lambda: [o.backend for o in app.compare.session.outcomes.values()] == ["cpu"] * 6)
        await app.settle()
        assert "cpu NumPy" in app.text()
        await app.press("b")
        await app.until(lambda: [o.backend for o in app.compare.session.outcomes.values()] == ["gpu"] * 6)


async def test_a_task_of_one_backend_says_so_and_keeps_its_verdicts(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=engine_of("cpu"))) as app:
        await app.settle()
        await app.press("c", "b")
        await app.until(lambda: any("run on cpu alone" in n.message for n in app.app._notifications))
        assert len(app.compare.session.outcomes) == 6


async def test_a_backend_that_does_not_work_is_told_and_the_key_leads_back(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=engine_of("cpu", "emulator"))) as app:
        await app.settle()
        await app.press("c", "b")
        await app.until(lambda: "backend emulator does not work here" in app.text())
        assert not app.compare.session.outcomes
        await app.press("b")
        await app.until(lambda: [o.backend for o in app.compare.session.outcomes.values()] == ["cpu"] * 6)
