"""What the header says at any width."""

from __future__ import annotations

import pytest

from judge_tui.judging.workspace import Workspace

from .conftest import ENGINE, THREE, Driver, make_app, running


def header(app: Driver) -> str:
    return app.text().split("\n")[0]


@pytest.mark.parametrize("width", [160, 80, 60, 40])
@pytest.mark.parametrize("level", ["partial", "none"])
async def test_a_sandbox_that_is_not_full_is_told_at_any_width(
    three: Workspace, level: str, width: int
) -> None:
    engine = ENGINE.replace('sandbox="full"', f'sandbox="{level}"')
    async with running(make_app(three, THREE, engine), (width, 24)) as app:
        await app.until(lambda: f"sandbox {level}" in header(app))
        await app.press("s", "c", "8", "5")
        await app.until(lambda: "saved" in header(app))
        assert f"sandbox {level}" in header(app)


async def test_at_80_columns_a_conflict_and_a_sandbox_that_is_not_full_are_both_told(
    three: Workspace,
) -> None:
    engine = ENGINE.replace('sandbox="full"', 'sandbox="partial"')
    async with running(make_app(three, THREE, engine), (80, 24)) as app:
        await app.until(lambda: "sandbox partial" in header(app))
        await app.press("s", "c", "8", "5")
        await app.until(lambda: "saved" in header(app))
        path = three.scorecard_path("kv", "alpha", "anna")
        path.write_text(path.read_text().replace("85", "40"))
        await app.press("t", "9", "0")
        await app.until(lambda: "NOT SAVED: press ! to settle" in header(app))
        assert "sandbox partial" in header(app)
        await app.pilot.resize_terminal(160, 24)
        await app.until(lambda: "NOT SAVED, changed by another window: press ! to settle" in header(app))
        assert "Gamma" in header(app)
