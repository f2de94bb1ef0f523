"""What the dialogs share: a box at the bottom of the screen, the code still in view above it; and editors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Static

from judge_tui.tui.keys.bound_keys import key_for, keys_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.textual_private.backdrop import Backdrop
from judge_tui.tui.textual_private.covered import CoveredScreen

__all__ = ["WIDEST", "Dialog", "Editor"]

Result = TypeVar("Result")

#: Columns of a box at most.
WIDEST = 120
#: Rows of a screen on which an editor has no room for all that it says.
_LOW = 14


class Dialog(CoveredScreen[Result], ModalScreen[Result]):
    """A modal box."""

    DEFAULT_CSS = """
    Dialog { align: center bottom; background: $background 30%; }
    Dialog > Vertical { width: 100%; max-width: 120; height: auto; max-height: 90%; background: $panel;
                        border: round $primary; padding: 0 1; }
    Dialog TextArea, Dialog TextArea:focus { height: 7; border: none; padding: 0; background: $surface; }
    Dialog Input, Dialog Input:focus { border: none; height: 1; padding: 0; background: $surface; }
    Dialog .hint { color: $foreground 78%; height: auto; }
    Dialog Input > .input--placeholder { color: $foreground 78%; }
    Dialog ToastRack { dock: top; align: right top; }
    Dialog.-low > Vertical { height: 90%; overflow-y: auto; scrollbar-size: 0 0; }
    Dialog.-low TextArea, Dialog.-low TextArea:focus { height: 1fr; min-height: 1; }
    Dialog.-low .hint { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._backdrop = Backdrop()
        self._behind: Sequence[Strip] = ()

    def render_lines(self, crop: Region) -> list[Strip]:
        screens = self.app.screen_stack
        below = screens[: screens.index(self)] if self in screens else ()
        self._behind = self._backdrop.lines(below, self.styles.background)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        return self._behind[y] if y < len(self._behind) else Strip.blank(self.size.width, self.rich_style)


class Editor(Dialog[None]):
    """A dialog in which a text is typed, and kept as it is typed.

    Attributes:
        unsaved: Says why what is typed is not saved, in a few words; nothing where it is.
    """

    unsaved: Callable[[], str] = staticmethod(lambda: "")
    _keys = ""
    #: What the last line says of saving.
    _said = ""

    BINDINGS: ClassVar = [
        Binding("escape,ctrl+s", "close", "done (kept)", priority=True),
        Binding("tab", "app.focus_next", "next field", show=False),
        Binding("shift+tab", "app.focus_previous", "previous field", show=False),
    ]

    BINDINGS = named("editor", BINDINGS)

    def on_resize(self) -> None:
        # the cursor stays in sight: what is typed comes before what is said of keys
        self.set_class(self.size.height < _LOW, "-low")

    @property
    def closes(self) -> str:
        """What the last line says of leaving."""
        return f"{key_for(self, 'close')} closes and keeps"

    @property
    def moves(self) -> str:
        """The keys that go from field to field."""
        return keys_for(self, "app.focus_next", "app.focus_previous")

    def hint(self, keys: str) -> Static:
        """The last line: what keys do, and whether what is typed is saved."""
        self._keys = keys
        return Static(self._told(), classes="hint", markup=False)

    def _told(self) -> Content:
        why = self._said = self.unsaved()
        return Content.assemble(f"{self._keys} · ", (why, "$text-error") if why else "saved as you type")

    def tell_saving(self) -> None:
        """Say whether what is typed is saved, where that has changed: it is asked after every letter."""
        if self.unsaved() == self._said:
            return
        for line in self.query(".hint").results(Static):
            line.update(self._told())

    def action_close(self) -> None:
        self.dismiss(None)
