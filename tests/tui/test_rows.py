"""A list of rows while rows arrive above the cursor."""

from __future__ import annotations

from textual.app import App, ComposeResult

from judge_tui.tui.widgets.rows import Rows


class Listed(App[None]):
    def compose(self) -> ComposeResult:
        yield Plain()


class Plain(Rows):
    def draw(self, key, width, tones):
        return [(str(key), tones.text)]


async def test_the_top_row_stays_the_top_until_somebody_moves() -> None:
    async with Listed().run_test(size=(20, 4)) as pilot:
        rows = pilot.app.query_one(Plain)
        rows.show(["loads", "size"])
        rows.show(["worst", "bad", "odd", "fine", "loads", "size"])
        assert rows.key == "worst"
        assert rows.scroll_offset.y == 0


async def test_a_row_that_was_chosen_keeps_the_cursor() -> None:
    async with Listed().run_test(size=(20, 4)) as pilot:
        rows = pilot.app.query_one(Plain)
        rows.show(["loads", "size"])
        rows.go(1)
        rows.show(["worst", "bad", "odd", "fine", "loads", "size"])
        assert rows.key == "size"
