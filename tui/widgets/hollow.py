"""Boxes whose children cover them: nothing is drawn of them but their border."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

__all__ = ["Hollow"]


if TYPE_CHECKING:
    _Box = Widget
else:
    # of two bases that are widgets Textual takes the styles of the first alone, and those are the container's
    _Box = object


class Hollow(_Box):
    """Mixed into a container, before it; what its children leave open shows the screen's ground.

    Textual draws a box whole, and cuts it at the edges of all others, behind every line that scrolls.
    """

    _edge: Strip | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        border = self.gutter.left - crop.x
        if border <= 0:
            return []
        if self._edge is None or self._edge.cell_length != border:
            self._edge = super().render_lines(Region(crop.x, crop.y, border, 1))[0]
        return [self._edge] * crop.height

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._edge = None
