"""Home shows how far a check of its workspace is, and its verdicts once there are more of them."""

from __future__ import annotations

from pathlib import Path

from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging import under_way
from judge_tui.judging.under_way import UnderWay
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.home_checking import HomeChecking

from .at_home import home, make_home, ready
from .conftest import running


async def test_a_check_that_is_under_way_is_told_and_its_verdicts_are_read(workspace: Workspace) -> None:
    async with running(make_home(workspace), (160, 45)) as app:
        await ready(app)
        assert "checking" not in app.text()
        under_way.keep(workspace.root, UnderWay(30, 100, True, 1, 2.0))
        await home(app)._look_at_checks()
        await app.until(lambda: "checking 30 of 100 · 2.0/s · 35 s left · 1 failed" in app.text())
        submission, store = workspace.submission("alpha", "kv"), Store()
        store.keep(
            [Outcome("alpha", "kv", "size", Verdict.PASS, "said", 0.1)],
            store.key(submission, "cpu", "NumPy"),
        )
        store.chose("kv", "auto", "cpu", ["NumPy"])
        under_way.clear(workspace.root)
        await home(app)._look_at_checks()
        await app.until(lambda: "checking" not in app.text() and "✓1" in app.text())


async def test_what_is_found_meanwhile_is_read_now_and_then(tmp_path: Path) -> None:
    following = HomeChecking(tmp_path)
    assert not await following.look()
    under_way.keep(tmp_path, UnderWay(1, 9, True, 0, 0.0))
    looks = [await following.look() for _ in range(10)]
    assert looks == [False] * 4 + [True] + [False] * 5
    under_way.clear(tmp_path)
    assert await following.look()
    assert not await following.look()
