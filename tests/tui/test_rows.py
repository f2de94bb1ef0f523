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


class Coloured(Rows):
    def draw(self, key, width, tones):
        return [("plain ", tones.text), (str(key), tones.by_name["error"])]


async def test_a_row_that_the_cursor_reverses_has_one_ground() -> None:
    class Reversed(App[None]):
        def compose(self) -> ComposeResult:
            yield Coloured()

    app = Reversed()
    app.no_color = True
    async with app.run_test(size=(30, 4)) as pilot:
        rows = pilot.app.query_one(Coloured)
        rows.show(["loads", "size"])
        rows.focus()
        await pilot.pause()
        here, other = rows.render_line(0), rows.render_line(1)
        assert all(segment.style.reverse for segment in here)
        assert len({segment.style.color for segment in here}) == 1
        assert len({segment.style.color for segment in other}) == 2
