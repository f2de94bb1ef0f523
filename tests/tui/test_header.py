"""What the header says at any width."""

from __future__ import annotations

import sys

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions

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
        await app.press("c", "9", "0", "enter")
        await app.until(lambda: "NOT SAVED: press ! to settle" in header(app))
        assert "sandbox partial" in header(app)
        await app.pilot.resize_terminal(160, 24)
        await app.until(lambda: "NOT SAVED, changed by another window: press ! to settle" in header(app))
        assert "Gamma" in header(app)


@pytest.mark.parametrize(
    "judge", ["anna", "a judge whose name is longer than any screen is wide, and then some"]
)
async def test_at_80_columns_the_judge_is_named(workspace: Workspace, judge: str) -> None:
    (workspace.root / "judge-tui.toml").write_text(
        '[models.alpha]\ntitle = "GLM-5"\n[models.beta]\ntitle = "Qwen3.6-27B (thinking)"\n'
    )
    workspace = Workspace.find(explicit=workspace.root)
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    app = JudgeApp(
        workspace,
        submissions,
        judge,
        EngineOptions(command=(sys.executable, "-c", ENGINE.replace("END", ""))),
    )
    async with running(app, (80, 24)) as driver:
        await driver.until(lambda: "sandbox full" in header(driver) or driver.compare.parts.checks.ready)
        await driver.press("s", "c", "8", "5")
        await driver.until(lambda: "saved" in header(driver))
        assert judge[:4] in header(driver)
        for named in ("GLM-5", "Qwen3.6-27B (thinking)", "saved"):
            assert named in header(driver)


@pytest.mark.parametrize("width", [160, 80, 60])
async def test_a_path_of_sixty_levels_is_cut_in_the_middle(workspace: Workspace, width: int) -> None:
    folder = workspace.root / "submissions" / "alpha" / "kv"
    (folder / "kv_cache.py").unlink()
    deep = folder.joinpath("first", *(f"level{n}" for n in range(58)))
    deep.mkdir(parents=True)
    (deep / "kv_cache.py").write_text("x = 1\n")
    async with running(make_app(workspace, engine=None), (width, 24)) as app:
        await app.press("f", "escape")
        title = app.text().split("\n")[1].split("│")[0]
        assert " first/" in title
        assert "/kv_cache.py" in title
        # what else the title says is not pushed out
        assert "1/1" in title
        await app.press("f")
        assert any("first/" in line and "/kv_cache.py" in line for line in app.text().split("\n")[2:])
        await app.press("escape", "a")
        assert any("first/" in line and "/kv_cache.py:1" in line for line in app.text().split("\n")[2:])


@pytest.mark.parametrize(
    ("origins", "told"),
    [
        (("submission", "submission"), ""),
        (("submission", "reconstruction"), "reconstruction"),
        (("", ""), ""),
    ],
)
async def test_where_submissions_come_from_is_told_where_that_says_something(
    workspace: Workspace, origins: tuple[str, ...], told: str
) -> None:
    for model, origin in zip(("alpha", "beta"), origins, strict=True):
        folder = workspace.root / "submissions" / model / "kv"
        (folder / "submission.toml").write_text(f'origin = "{origin}"\n' if origin else "")
    async with running(make_app(workspace, engine=None)) as app:
        assert "submission" not in header(app)
        assert ("reconstruction" in header(app)) == bool(told)
