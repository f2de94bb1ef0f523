"""What the editor for prose leaves undrawn has not changed."""

from __future__ import annotations

import random

from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea

from judge_tui.tui.textual_private.prose_area import ProseArea

KEYS = (
    "a", "b", "space", "space", "left_parenthesis", "right_parenthesis", "enter", "backspace", "delete",
    "left", "right", "up", "down", "home", "end", "shift+left", "shift+up", "ctrl+z", "ctrl+y", "ctrl+w",
)  # fmt: skip
TEXT = (
    "keys (and values) are kept twice, which is more than a cache of this size can hold\nsecond\n\nlast (one)"
)


class Editing(App[None]):
    CSS = "TextArea { width: 24; height: 6; border: none; padding: 0; }"

    def compose(self) -> ComposeResult:
        yield ProseArea(TEXT)


def drawn(area: TextArea) -> list[Strip]:
    return area.render_lines(Region(0, 0, *area.size))


async def test_no_line_is_stale_whatever_is_typed() -> None:
    chance = random.Random(7)
    async with Editing().run_test(size=(40, 10)) as pilot:
        area = pilot.app.query_one(ProseArea)
        area.focus()
        area.cursor_blink = False
        for _ in range(150):
            key = chance.choice(KEYS)
            await pilot.press(key)
            await pilot.pause()
            shown = drawn(area)
            area._line_cache.clear()
            area._styles_cache.clear()
            assert drawn(area) == shown, f"stale after {key}: {area.text!r}"


async def test_a_bracket_whose_other_half_is_deleted_is_marked_no_more() -> None:
    async with Editing().run_test(size=(40, 10)) as pilot:
        area = pilot.app.query_one(ProseArea)
        area.load_text("(one\ntwo)")
        area.focus()
        area.cursor_blink = False
        area.move_cursor((1, 3))
        await pilot.pause()
        assert area._matching_bracket_location == (0, 0)
        marked = drawn(area)[0]
        await pilot.press("delete")
        await pilot.pause()
        assert drawn(area)[0] != marked


async def test_lines_that_are_replaced_together_are_all_redrawn() -> None:
    async with Editing().run_test(size=(40, 10)) as pilot:
        area = pilot.app.query_one(ProseArea)
        area.load_text("one\ntwo\nthree")
        area.move_cursor((2, 0))
        await pilot.pause()
        drawn(area)
        area.replace("uno\ndos", (0, 0), (1, 3))
        await pilot.pause()
        assert [strip.text.strip() for strip in drawn(area)[:3]] == ["uno", "dos", "three"]


async def test_a_letter_redraws_its_own_line() -> None:
    async with Editing().run_test(size=(40, 10)) as pilot:
        area = pilot.app.query_one(ProseArea)
        area.focus()
        area.cursor_blink = False
        area.move_cursor((1, 6))
        await pilot.pause()
        asked: list[Region] = []
        told = area.refresh

        def refresh(*regions: Region, **how: bool) -> object:
            asked.extend(regions or [Region(0, 0, 0, 0)])
            return told(*regions, **how)

        area.refresh = refresh  # type: ignore[method-assign]
        await pilot.press("s")
        assert area.document[1] == "seconds"
        assert [region.height for region in asked if region] == [1]


async def test_a_theme_changes_the_colours_at_once() -> None:
    async with Editing().run_test(size=(40, 10)) as pilot:
        area = pilot.app.query_one(ProseArea)
        await pilot.pause()
        before = drawn(area)
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert drawn(area) != before
