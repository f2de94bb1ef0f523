"""What the dialogs share: a box at the bottom of the screen, the code still in view above it."""

from __future__ import annotations

from typing import TypeVar

from textual.screen import ModalScreen

__all__ = ["Dialog"]

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal box."""

    DEFAULT_CSS = """
    Dialog { align: center bottom; background: $background 30%; }
    Dialog > Vertical { width: 100%; max-width: 120; height: auto; max-height: 90%; background: $panel;
                        border: round $primary; padding: 0 1; }
    Dialog TextArea, Dialog TextArea:focus { height: 7; border: none; padding: 0; background: $surface; }
    Dialog Input, Dialog Input:focus { border: none; height: 1; padding: 0; background: $surface; }
    Dialog .hint { color: $foreground 60%; height: auto; }
    """
