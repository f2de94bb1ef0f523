"""Panes that follow the one in focus, by line or by function, and what their titles say of it."""

from __future__ import annotations

from pathlib import Path

from judge_tui.judging.workspace import Workspace

from .conftest import THREE, Driver, make_app, make_workspace, running
from .test_code import write

ATTEND = "def attend(query, keys):\n    scores = query @ keys\n    return scores\n"
#: Two functions, of which only the first has a like in the others.
TWO = ATTEND + "\n\ndef read_batch(path):\n    with open(path) as file:\n        return file.readlines()\n"
FILLER = "".join(f"x{n} = {n}\n" for n in range(60))


def badges(app: Driver) -> list[str]:
    """What the titles say of the function that is followed."""
    bars = [pane.title_bar.render_line(0).text for pane in app.compare.panes]
    signs = [bar.find("≈") if "≈" in bar else bar.find("≠") for bar in bars]
    words = [bar[at:].split()[:3] if at >= 0 else [] for bar, at in zip(bars, signs, strict=True)]
    return [" ".join(said[: 2 if said[:1] == ["≈"] else 3]) for said in words]


async def test_panes_scroll_together_when_told(tmp_path: Path, workspace: Workspace) -> None:
    for model in ("alpha", "beta"):
        (workspace.root / "submissions" / model / "kv" / "kv_cache.py").write_text("def f(): pass\n" * 300)
    async with running(make_app(workspace)) as app:
        await app.settle()
        first, second = (pane.view for pane in app.compare.panes)
        await app.press("ctrl+d")
        assert second.scroll_offset.y == 0
        await app.press("y", "G")
        assert first.scroll_offset.y == second.scroll_offset.y > 200


async def test_panes_follow_the_function_of_the_cursor_when_told(workspace: Workspace) -> None:
    filler = "".join(f"x{n} = {n}\n" for n in range(60))
    write(workspace, "def load(x):\n    return x\n\n\ndef only(y):\n    return y\n" + filler)
    write(workspace, filler + "def load(path):\n    return path\n" + filler, "beta")
    async with running(make_app(workspace)) as app:
        await app.settle()
        first, second = (pane.view for pane in app.compare.panes)
        await app.press("y", "y")
        await app.until(lambda: second.cursor == 60)
        await app.press("j")
        assert (first.cursor, second.cursor) == (1, 61)
        assert second.rows.row_of(61) - second.scroll_offset.y == 1
        assert "≈ load" in app.text()
        await app.press("j", "j", "j")
        assert "≠ no like" in app.text()
        assert second.cursor in (60, 61, 62, 63)
        await app.press("B", "g")
        await app.press("slash", *"def load", "enter")
        await app.until(lambda: second.cursor == 60 and first.cursor == 0)


async def test_titles_tell_of_the_function_of_the_pane_in_focus_alone(three: Workspace) -> None:
    for model, text in zip(THREE, (ATTEND + FILLER, ATTEND + FILLER, TWO), strict=True):
        write(three, text, model)
    async with running(make_app(three, THREE, engine=None)) as app:
        await app.until(lambda: all(pane.settled and pane.view.symbols for pane in app.compare.panes))
        await app.press("y", "y")
        await app.until(lambda: badges(app) == ["", "≈ attend", "≈ attend"])
        # nothing moves before the cursor does, and what was said of the one before is gone
        await app.press("C")
        await app.until(lambda: badges(app) == ["≈ attend", "≈ attend", ""])
        tops = [pane.view.cursor for pane in app.compare.panes]
        await app.press("G")
        await app.until(lambda: badges(app) == ["≠ no like", "≠ no like", ""])
        assert [pane.view.cursor for pane in app.compare.panes][:2] == tops[:2]
        await app.press("A")
        await app.until(lambda: badges(app) == ["", "≈ attend", "≈ attend"])
        await app.press("G")
        await app.until(lambda: badges(app) == ["", "", ""])
        await app.press("y")
        assert badges(app) == ["", "", ""]


async def test_the_title_of_another_file_says_nothing_of_the_one_before(workspace: Workspace) -> None:
    write(workspace, TWO)
    write(workspace, ATTEND, "beta")
    async with running(make_app(workspace, engine=None)) as app:
        await app.until(lambda: all(pane.settled and pane.view.symbols for pane in app.compare.panes))
        await app.press("y", "y")
        await app.until(lambda: badges(app) == ["", "≈ attend"])
        await app.press("full_stop")
        await app.until(lambda: badges(app) == ["", "≠ no like"])


async def test_a_narrow_title_tells_of_the_function_before_the_model(
    tmp_path: Path, workspace: Workspace
) -> None:
    models = ("alpha", "model-of-a-name")
    long = make_workspace(tmp_path / "long", models)
    for model in models:
        write(long, ATTEND, model)
    async with running(make_app(long, models, engine=None), (120, 30)) as app:
        await app.until(lambda: all(pane.settled and pane.view.symbols for pane in app.compare.panes))
        assert "Model-Of-A-Name" in app.compare.panes[1].title_bar.render_line(0).text
        await app.press("y", "y")
        await app.until(lambda: badges(app) == ["", "≈ attend"])
