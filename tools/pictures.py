"""Draws what the app looks like: each screen, in three sizes and three depths of colour, to be looked at.

    python -m tools.pictures [FOLDER]

``build/pictures`` by default, and not committed: an SVG of each, and a sheet of all of a screen as HTML, as
PNG too where a browser is. The workspace is a copy with scores that nobody gave; its checks run once.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from judge_tui.judging.card import DimensionScore, Scorecard
from judge_tui.judging.matchup import TIE, Matchup, Matchups, save_matchups
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.past import Past, PastComparisons

__all__ = ["DEPTHS", "SCREENS", "SIZES", "main", "shoot"]

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "build" / "pictures"
SIZES = ((80, 24), (120, 35), (160, 45))
#: Depth of colour → what Textual calls it.
DEPTHS = {"24-bit": "truecolor", "256": "256", "16": "standard"}
#: What is compared, where COMPARE stands in place of a key; CURVE opens evidence that has one.
_COMPARED = ("glm5", "qwen36")
#: Screen → the keys that lead there from the one before.
SCREENS: dict[str, tuple[str, ...]] = {
    "home": (),
    "scores": ("v",),
    "comparison": ("escape", "COMPARE"),
    "checks": ("c",),
    "evidence": ("enter",),
    "curve": ("escape", "CURVE", "v"),
    "matchup": ("escape", "escape", "escape", "M"),
    "report": ("escape", "R"),
}
PATIENCE_S = 300.0
_JUDGE = "you"
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: Pixels of a column and a row in a sheet.
_ACROSS, _DOWN = 6, 12


def fill(workspace: Workspace) -> None:
    """Give scores, as three judges might have, and decide matchups."""
    chance = random.Random(5)
    for task in workspace.tasks():
        there = [model for model in workspace.models() if task in workspace.submitted(model)]
        rubric = workspace.rubric(task) if there else None
        for model in there:
            assert rubric is not None
            digest = workspace.submission(model, task).digest
            for judge, share in ((_JUDGE, 0.7), ("bert", 0.8), ("carl", 0.4)):
                if chance.random() < share:
                    given = {one.id: DimensionScore(chance.randint(48, 97)) for one in rubric.dimensions}
                    card = Scorecard(task, model, judge, dimensions=given).judged_under(rubric, digest)
                    save_scorecard(workspace.scorecard_path(task, model, judge), card, None)
        pairs = [pair for pair in pairwise(there) if chance.random() < 0.8]
        decided = tuple(Matchup(pair, chance.choice((*pair, TIE)), chance.randint(1, 12)) for pair in pairs)
        if decided:
            save_matchups(workspace.matchups_path(task, _JUDGE), Matchups(task, _JUDGE, decided), None)
            PastComparisons(workspace.root, _JUDGE).keep(Past(task, decided[0].models, 1.0))


async def shoot(workspace: Workspace, depth: str, folder: Path) -> None:
    """Draw every screen in every size.

    Args:
        workspace: A copy, which is written to.
        depth: A key of :data:`DEPTHS`; the process has been started for it.
        folder: Where the pictures go.
    """
    app = JudgeApp(workspace, (), _JUDGE, clock=lambda _: "12:34")
    async with app.run_test(size=SIZES[-1]) as pilot:
        home = app.home
        assert home is not None
        await _until(pilot, lambda: home.settled)
        for screen, keys in SCREENS.items():
            for key in keys:
                if key == "COMPARE":
                    home.post_message(home.Asked("kv", _COMPARED))
                    await _until(pilot, lambda: app.compare is not None and app.compare.is_mounted)
                    await _until(pilot, lambda: _checked(app))
                elif key == "CURVE":
                    _show_curve(app)
                else:
                    await pilot.press(key)
                    await pilot.pause(0.3)
            await pilot.pause(1.0)
            app.clear_notifications()
            for size in SIZES:
                await pilot.resize_terminal(*size)
                await pilot.pause(0.5)
                picture = folder / f"{screen}-{depth}-{size[0]}x{size[1]}.svg"
                picture.write_text(app.export_screenshot(title=f"{screen}, {depth}, {size[0]}×{size[1]}"))
    app.close_session()


def _show_curve(app: JudgeApp) -> None:
    """Open the evidence of a check that has measured one."""
    assert app.compare is not None
    found = app.compare.session.outcomes.items()
    curved = [key for key, outcome in found if any(item.curve is not None for item in outcome.evidence)]
    if not curved:
        raise SystemExit("no check has measured a curve")
    app.compare.parts.check_actions.show_evidence(curved[0])


def _checked(app: JudgeApp) -> bool:
    """Whether all checks of the comparison have ended."""
    compare = app.compare
    assert compare is not None
    pane = compare.checks_pane
    return bool(pane.rows.keys) and not compare.runner.active and not pane.active


async def _until(pilot: Any, holds: Callable[[], bool]) -> None:
    for _ in range(round(PATIENCE_S * 10)):
        await pilot.pause(0.1)
        if holds():
            return
    raise SystemExit("the screen never came to rest")


def sheet(screen: str, folder: Path) -> Path:
    """All pictures of a screen on a page; as a PNG too where there is a browser."""
    cells = "".join(
        f'<figure style="width:{width * _ACROSS}px">'
        f'<img src="{screen}-{depth}-{width}x{height}.svg" alt="{screen}, {depth}, {width}×{height}">'
        f"<figcaption>{depth}, {width}×{height}</figcaption></figure>"
        for width, height in SIZES
        for depth in DEPTHS
    )
    style = (
        "body{background:#444;color:#eee;font:12px sans-serif;display:grid;margin:8px;"
        "grid-template-columns:repeat(3,max-content);gap:8px}figure{margin:0}img{width:100%}"
    )
    page = folder / f"{screen}.html"
    page.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><title>{screen}</title><style>{style}</style>{cells}"
    )
    browser = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if browser is not None:
        width = 3 * (SIZES[-1][0] * _ACROSS + 8) + 16
        height = sum(rows * _DOWN + 60 for _, rows in SIZES)
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [
            f"--window-size={width},{height}",
            f"--screenshot={page.with_suffix('.png')}",
            page.as_uri(),
        ]
        subprocess.run(command, check=False, capture_output=True)
    return page


def main() -> None:
    """Draw every screen; each depth in a process of its own, which Textual learns it from."""
    if sys.argv[1:2] == ["--depth"]:
        asyncio.run(shoot(Workspace.find(explicit=Path(sys.argv[3])), sys.argv[2], Path(sys.argv[4])))
        return
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        # what is kept of the reader, and the theme that they have picked, is not what is drawn
        own = {f"XDG_{name}_HOME": str(Path(temporary) / name.lower()) for name in ("STATE", "CONFIG")}
        os.environ |= own
        root = Path(temporary) / "judged"
        shutil.copytree(ROOT / "submissions", root / "submissions")
        (root / "scores").mkdir()
        workspace = Workspace.find(explicit=root)
        fill(workspace)
        for depth, system in DEPTHS.items():
            asked = [sys.executable, "-m", "tools.pictures", "--depth", depth, str(root), str(folder)]
            subprocess.run(asked, check=True, env=os.environ | {"TEXTUAL_COLOR_SYSTEM": system})
    for screen in SCREENS:
        print(sheet(screen, folder))


if __name__ == "__main__":
    main()
