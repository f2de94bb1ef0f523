"""What stands where something is hidden; told apart, since a screen that hides nothing needs no mask."""

from __future__ import annotations

__all__ = ["BLOCK"]

#: Stands for one hidden character.
BLOCK = "▒"
