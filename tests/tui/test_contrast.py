"""Nothing that is read stands out less than 4.5:1 from what it is drawn on, and nothing less than 3:1."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest
from rich.style import Style
from textual.color import Color
from textual.command import CommandPalette
from textual.theme import BUILTIN_THEMES, Theme

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code.syntax_styles import syntax_styles
from judge_tui.tui.look.contrast import READ, contrast
from judge_tui.tui.look.depth import Rounded
from judge_tui.tui.look.palette import THEMES, themes_for
from judge_tui.tui.look.tones import Tones, tones_under
from judge_tui.tui.screens.dialog import Dialog

from .at_home import make_home, ready
from .conftest import Driver, make_app, running

SEEN = 3.0
#: Red, green and blue of the colours that xterm has for these names.
XTERM = {
    "red": (205, 0, 0),
    "green": (0, 205, 0),
    "yellow": (205, 205, 0),
    "blue": (0, 0, 238),
    "magenta": (205, 0, 205),
    "cyan": (0, 205, 205),
}
PALETTES = [theme for theme in (*THEMES, *BUILTIN_THEMES.values()) if not theme.ansi]


def tones(theme: Theme) -> Tones:
    return tones_under(theme.to_color_system().generate(), dark=theme.dark)


def drawn(tones: Tones) -> list[Style]:
    """Every ink on every ground that it is drawn on: what stands in lists, and code."""
    code = [tones.ground, tones.raised, tones.cursor, tones.cursor_blurred, tones.selected]
    grounds = [*code, tones.pointed, tones.pointed_blurred]
    plain = [tones.text, tones.muted, tones.faint, tones.strong, *tones.by_name.values()]
    colored = [style for style in syntax_styles(tones) if style.color]
    return [ink + on for inks, under in ((plain, grounds), (colored, code)) for ink in inks for on in under]


def apart(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    return contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor))


@pytest.mark.parametrize("theme", PALETTES, ids=lambda theme: theme.name)
def test_every_ink_is_legible_on_every_ground_of_every_theme(theme: Theme) -> None:
    shown = tones(theme)
    assert min(map(apart, drawn(shown))) >= READ
    assert min(apart(shown.hit), apart(shown.alert)) >= READ


@pytest.mark.parametrize("theme", [*themes_for("256"), *PALETTES], ids=lambda theme: str(theme.primary))
def test_and_so_it_is_on_a_terminal_of_256_colours(theme: Theme) -> None:
    from rich.segment import Segment

    styles = drawn(tones(theme))
    (*rounded,) = Rounded().apply([Segment("x", style) for style in styles], Color(0, 0, 0))
    assert all(segment.style and segment.style.color and segment.style.color.number for segment in rounded)
    assert min(apart(segment.style) for segment in rounded if segment.style) >= READ


@pytest.mark.parametrize("theme", [*themes_for("256"), *PALETTES], ids=lambda theme: str(theme.primary))
def test_the_row_of_a_list_that_the_cursor_is_on_is_seen_at_a_glance(theme: Theme) -> None:
    shown = tones(theme)
    for below, row, least in (
        (shown.ground, shown.cursor, 1.15),
        (shown.raised, shown.pointed, 1.3),
        (shown.raised, shown.pointed_blurred, 1.1),
    ):
        assert apart(Style(color=below.bgcolor) + row) >= least


def test_sixteen_colours_are_the_readers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for theme in themes_for("standard"):
        shown = tones(theme)
        named = [style.color for style in drawn(shown) if style.color is not None]
        assert all(color.type.name in ("STANDARD", "DEFAULT") for color in named), theme
        assert shown.cursor.reverse
        assert shown.selected.reverse


def test_code_on_a_light_ground_is_read_in_the_sixteen_colours_that_xterm_has() -> None:
    theme = next(theme for theme in themes_for("standard") if not theme.dark)
    colors = {style.color.name for style in syntax_styles(tones(theme)) if style.color is not None}
    assert len(colors) >= 3
    for name in colors:
        assert contrast(Color(*XTERM[name]), Color(255, 255, 255)) >= READ, name


def read(text: str) -> bool:
    """Whether something in it is read: letters, digits and signs, and no lines of boxes or bars."""
    return any(unicodedata.category(letter)[0] in "LNPS" and not "─" <= letter <= "▟" for letter in text)


def cells(app: Driver) -> Iterator[tuple[str, Style]]:
    """What is drawn, but for what lies dimmed behind a dialog."""
    screen = app.app.screen
    strips = screen._compositor.render_strips()
    if isinstance(screen, Dialog | CommandPalette):
        region = screen.children[0].region
        strips = [strip.crop(region.x, region.right) for strip in strips[region.y : region.bottom]]
    for strip in strips:
        for segment in strip:
            if segment.text.strip() and segment.style is not None and segment.style.bgcolor is not None:
                yield segment.text, segment.style


def too_faint(app: Driver) -> set[tuple[str, str, str]]:
    """What is drawn too faintly, and its colours."""
    return {
        (text.strip(), str(style.color and style.color.name), str(style.bgcolor and style.bgcolor.name))
        for text, style in cells(app)
        if style.color is not None and not style.reverse
        if apart(style) < (READ if read(text) else SEEN)
    }


#: Keys that lead from a state to the next one.
WAYS = (
    *((), ("v", "j", "j"), ("escape", "c"), ("enter",), ("escape", "d"), ("escape", "s"), ("enter",)),
    *(("escape", "escape", "a"), ("escape", "L"), ("escape", "f"), ("escape", "o"), ("escape", "M")),
    *(("escape", "I"), ("escape", "question_mark"), ("escape", "slash", "s", "e", "l", "f")),
    *(("escape", "escape", "R"), ("escape", "W"), ("escape", "ctrl+p")),
)


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_nothing_on_a_screen_of_a_comparison_is_too_faint(workspace: Workspace, theme: str) -> None:
    async with running(make_app(workspace), (120, 35)) as app:
        await app.settle()
        app.app.theme = theme
        faint: set[tuple[str, str, str]] = set()
        for keys in WAYS:
            await app.press(*keys)
            await app.pilot.pause()
            faint |= too_faint(app)
        assert faint == set()


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_nor_on_home(workspace: Workspace, theme: str) -> None:
    async with running(make_home(workspace), (120, 35)) as app:
        await ready(app)
        app.app.theme = theme
        await app.pilot.pause()
        await app.press("j")
        assert too_faint(app) == set()
