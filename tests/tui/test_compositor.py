from __future__ import annotations

import pytest
from textual.strip import Strip

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.textual_private.compositor import DirectCompositor, DirectUpdate

from .conftest import CODE, make_app, running


def drawn(strip: Strip) -> list[object]:
    """What a terminal shows of a strip, letter by letter."""
    return [
        (letter, style.bgcolor, style.without_color, None if letter.isspace() else style.color)
        for text, style, _ in strip
        if style is not None
        for letter in text
    ]


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_what_goes_straight_to_the_terminal_is_what_the_screen_shows(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    general = DirectCompositor.render_partial_update
    straight, other = [], []

    def watched(compositor: DirectCompositor) -> object:
        update = general(compositor)
        if isinstance(update, DirectUpdate):
            whole = compositor.render_strips()
            for x, y, strip in update.lines:
                straight.append(drawn(strip))
                other.append(drawn(whole[y].crop(x, x + strip.cell_length)))
        return update

    monkeypatch.setattr(DirectCompositor, "render_partial_update", watched)
    for model in ("alpha", "beta"):
        (workspace.submission(model, "kv").path / "kv_cache.py").write_text(CODE * 9)
    async with running(make_app(workspace), size=size) as driver:
        await driver.settle()
        scrolled = ["j", "j", "G", "g", "y", *"jjjjjj", "G", "y", "j", "k"]
        searched = ["slash", *"def", "enter", "n", "n"]
        copied = ["v", "j", "Y", "j"]
        scored = ["s", "8", "j", "9", "enter", *"a word", "escape", "escape"]
        for key in scrolled + searched + copied + scored + ["tab", "j", "ctrl+d"]:
            await driver.press(key)
    assert len(straight) > 20
    assert straight == other
