"""Boxes whose children cover them: nothing is drawn of them but their border."""

from __future__ import annotations

from typing import Any

from textual.geometry import Region
from textual.strip import Strip

__all__ = ["Hollow"]


class Hollow:
    """Mixed into a container, before it; what its children leave open shows the screen's ground.

    Textual draws a box whole, and cuts it at the edges of all others, behind every line that scrolls.
    """

    _edge: Strip | None = None

    def render_lines(self: Any, crop: Region) -> list[Strip]:
        border = self.gutter.left - crop.x
        if border <= 0:
            return []
        if self._edge is None or self._edge.cell_length != border:
            self._edge = super().render_lines(Region(crop.x, crop.y, border, 1))[0]
        return [self._edge] * crop.height

    def notify_style_update(self: Any) -> None:
        super().notify_style_update()
        self._edge = None
