"""Where the keys that go to the next of something stop, and what they say where there is none further."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace

from .conftest import Driver, make_app, running


def told(app: Driver) -> str:
    """What was told last."""
    return list(app.app._notifications)[-1].message


async def test_a_note_over_several_lines_is_one_stop_and_a_finding_in_it_another(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        view = app.compare.panes[1].view
        # lines 13 to 16: the finding of line 15 is within
        await app.press("B", "semicolon", *"12j", "v", "j", "j", "j", "a", "b", *"why", "escape", "g")
        assert sorted(line for line, mark in view._marks.items() if mark.glyph == "▏") == [13, 14, 15]
        stops = []
        for _ in range(3):
            await app.press("right_curly_bracket")
            stops.append(view.cursor)
        assert stops == [12, 14, 14]
        assert told(app) == "no note or finding below here"
        await app.press("left_curly_bracket", "left_curly_bracket")
        assert view.cursor == 12
        assert told(app) == "no note or finding above here"
        await app.press("G", "right_square_bracket")
        assert told(app) == "no function below here"
        await app.press("A", "right_curly_bracket")
        assert told(app) == "no note or finding in this file"


async def test_steps_round_the_end_are_told(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        pane = app.compare.panes[1]
        await app.press("B", "e")
        assert (pane.view.cursor, len(app.app._notifications)) == (14, 0)
        await app.press("e")
        assert told(app) == "this is the only finding"
        await app.press("G", "e")
        assert (pane.view.cursor, told(app)) == (14, "past the last finding, on from the first")
        await app.press("g", "E")
        assert (pane.view.cursor, told(app)) == (14, "past the first finding, on from the last")
        await app.press("b", "g", "P")
        assert told(app) == "past the first bookmark, on from the last"
        await app.press("slash", *"import", "enter")
        await app.until(lambda: pane.view.cursor == 2)
        assert told(app) == "past the last match, on from the first"
        await app.press("g", "n")
        assert pane.view.cursor == 2
        await app.press("N")
        assert told(app) == "past the first match, on from the last"
