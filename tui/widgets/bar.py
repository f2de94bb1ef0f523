"""One line of spans: the header of the screen and the titles of panes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from judge_tui.judging.read_only import holds
from judge_tui.tui.look.fitting import fit_middle
from judge_tui.tui.look.glyphs import neutral
from judge_tui.tui.look.in_a_row import in_a_row
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.textual_private.drawing import line_filters
from judge_tui.tui.widgets.rows import Span

__all__ = ["Bar", "Part", "judge_parts", "packed", "told_origins"]

#: Text, name of its tone, and its rank: what has the highest rank goes first when room is short.
Part = tuple[str, str, int]


#: Columns of a judge's name.
_NAME = 20
#: Origins of what is just what it looks like.
_USUAL = {"", "submission"}


def packed(parts: Sequence[Part], width: int) -> list[tuple[str, str]]:
    """The parts that fit into a width, those of low rank kept."""
    from rich.cells import cell_len

    kept = [part for part in parts if part[0]]
    while kept and sum(cell_len(text) for text, _, _ in kept) > width:
        worst = max(range(len(kept)), key=lambda n: (kept[n][2], n))
        if kept[worst][2] == 0:
            break
        kept.pop(worst)
    told = [(text, tone) for text, tone, _ in kept]
    if told:
        # what a separator led to was left out
        told[-1] = (told[-1][0].removesuffix("· "), told[-1][1])
    return told


def judge_parts(judge: str) -> list[Part]:
    """Who judges, for a header: the name stays where others go."""
    name = fit_middle(judge, _NAME)
    if holds():
        # nobody writes here; the name says whose scores are shown
        return [("read only · ", "warning", 0), ("scores of ", "muted", 5), (f"{name} · ", "muted", 2)]
    return [("judge ", "muted", 5), (f"{name} · ", "muted", 2)]


def told_origins(origins: Iterable[str]) -> str:
    """Where submissions come from, as far as that says anything of them."""
    return " / ".join(sorted({*origins} - _USUAL))


class Bar(Widget):
    """Parts at the left and at the right of one line."""

    # what is dragged here is a border
    ALLOW_SELECT = False

    DEFAULT_CSS = """
    Bar { height: 1; background: $panel; }
    Bar.-title { background: $surface; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: tuple[Part, ...] = ()
        self._right: tuple[Part, ...] = ()
        self._base: Style | None = None

    def tell(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        """Show other parts."""
        # made harmless before it is measured: a control character is wider as a symbol
        at_left, at_right = (
            tuple([(neutral(text), tone, rank) for text, tone, rank in side if text])
            for side in (left, right)
        )
        if (at_left, at_right) != (self._left, self._right):
            self._left, self._right = at_left, at_right
            self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        # straight: the general way through styles costs more than the line, and titles change at every key
        strip = self.render_line(0)
        ground = self.background_colors[1]
        for line_filter in line_filters(self.app):
            strip = strip.apply_filter(line_filter, ground)
        if crop.x or crop.right < self.size.width:
            strip = strip.crop(crop.x, crop.right)
        return [strip] * crop.height

    def render_line(self, y: int) -> Strip:
        from rich.cells import cell_len

        tones = tones_of(self.app)
        width = self.size.width
        if self._base is None:
            self._base = tones.text + self.rich_style
        base = self._base
        gap: Part = ("\0", "", 0)
        shown = packed([*self._left, gap, *self._right], width - 1)
        used = sum(cell_len(text) for text, _ in shown if text != "\0")
        inks = {"strong": tones.strong, "faint": tones.faint, **tones.by_name}
        spans: list[Span] = [
            (" " * max(width - used, 0) if text == "\0" else text, inks.get(tone, tones.text))
            for text, tone in shown
        ]
        return in_a_row([Segment(text, base + style) for text, style in spans], width, base)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._base = None
