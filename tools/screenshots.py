"""Draws the screenshots of the README: the comparison of two submissions, with the real engine.

    python -m tools.screenshots [FOLDER]

Scores and notes are put into a copy of the workspace; nothing here is a judgement.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

# pictures have all colours, wherever they are drawn; it is read when Textual is imported
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp

__all__ = ["PICTURES", "SHOTS", "main", "shoot"]

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs"
#: How long the checks may take, in seconds.
PATIENCE_S = 300
#: Name of a picture → columns and rows of the terminal, and the keys that are pressed.
SHOTS = {
    "compare-160x45": ((160, 45), ("o", *"update", "enter", "B", "o", *"update", "enter", "A")),
    "compare-80x24": ((80, 24), ("o", *"update", "enter", "B", "o", *"update", "enter", "A")),
    "scoring-160x45": ((160, 45), ("s", "c", "8", "5", "m", "8", "8", "w", "c", "7", "0")),
    "scoring-80x24": ((80, 24), ("s", "c", "8", "5")),
    "evidence-160x45": ((160, 45), ("c", "enter")),
}


async def shoot(workspace: Workspace, name: str, folder: Path) -> None:
    """Draw one picture, once every check of the comparison has ended.

    Args:
        workspace: A copy, which is written to.
        name: A key of :data:`SHOTS`.
        folder: Where ``NAME.svg`` goes.
    """
    size, keys = SHOTS[name]
    submissions = [workspace.submission(model, "kv") for model in ("glm5", "qwen36")]
    app = JudgeApp(workspace, submissions, "you", clock=lambda _: "12:34:56")
    async with app.run_test(size=size) as pilot:
        compare = app.compare
        assert compare is not None
        for _ in range(PATIENCE_S * 10):
            await pilot.pause(0.1)
            if not compare.runner.active and not compare.checks_pane.active and compare.checks_pane.rows.keys:
                break
        for key in keys:
            await pilot.press(key)
        await pilot.pause(0.5)
        app.clear_notifications()
        await pilot.pause(0.5)
        (folder / f"{name}.svg").write_text(app.export_screenshot(title="judge-tui"))
    app.close_session()


def main() -> None:
    """Draw every picture, each on what those before it have left in the workspace."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        shutil.copytree(ROOT / "submissions", root / "submissions")
        (root / "scores").mkdir()
        workspace = Workspace.find(explicit=root)
        for name in SHOTS:
            asyncio.run(shoot(workspace, name, folder))
            print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
