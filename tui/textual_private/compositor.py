"""The way from widgets to the terminal: straight, where a part that has changed is one widget's alone.

Stands in for ``_compositor.Compositor``: it takes each changed line apart where any widget begins or ends,
and nothing public replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from textual._compositor import ChopsUpdate, Compositor, CompositorUpdate
from textual.geometry import Region
from textual.strip import Strip

__all__ = ["DirectCompositor"]


class DirectUpdate(CompositorUpdate):
    """Lines that go to the terminal as they are.

    Args:
        lines: Column, row and what is to stand there.
    """

    def __init__(self, lines: Sequence[tuple[int, int, Strip]]) -> None:
        self.lines = lines

    def render_segments(self, console: Console) -> str:
        return "".join([f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for x, y, strip in self.lines])


class DirectCompositor(Compositor):
    """Takes no line apart that one widget has drawn whole.

    Textual cuts each changed line where any widget of the screen begins or ends, and puts it together
    again. Three panes that scroll are no more than their own lines, which they keep drawn.
    """

    # whoever asks takes any CompositorUpdate; Textual tells its own alone
    def render_partial_update(self) -> ChopsUpdate | DirectUpdate | None:  # type: ignore[override]
        changed = self._dirty_regions
        drawn: list[tuple[int, int, Strip]] = []
        for region in changed:
            if any(other is not region and other.contains_region(region) for other in changed):
                continue
            lines = self._lines(region)
            if lines is None:
                return super().render_partial_update()
            drawn += ((region.x, y, strip) for y, strip in zip(region.line_range, lines, strict=True))
        if not drawn:
            return super().render_partial_update()
        changed.clear()
        return DirectUpdate(drawn)

    def _lines(self, region: Region) -> Sequence[Strip] | None:
        """What a region of the screen shows; None where more than one widget has a share in it."""
        for widget, (place, clip) in self.visible_widgets.items():
            seen = place.intersection(clip)
            if seen.contains_region(region):
                return widget.render_lines(region.translate(-place.offset))
            if seen.intersection(region):
                return None
        return None
