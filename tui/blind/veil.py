"""The last net of a blind comparison: whatever is drawn, copied or printed is looked through for names.

The texts are masked where they come from. What slips through there, a sentence of Textual's or what the judge
types, is caught here: line by line as it is drawn, and in what leaves the screen otherwise.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rich.segment import Segment
from rich.text import Text
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

from judge_tui.judging.hiding.block import BLOCK

if TYPE_CHECKING:
    from judge_tui.tui.blind.blindfold import Blindfold

__all__ = ["Veil", "VeiledApp"]

Result = TypeVar("Result")

#: A terminal's title may be the command line, which names the models; these keep it and bring it back.
_KEEP_TITLE, _TITLE, _BACK = "\x1b[22;2t", "\x1b]2;{}\x07", "\x1b[23;2t"


class Veil(LineFilter):
    """Covers names in lines that are drawn, in whatever pieces and colours they come."""

    def __init__(self, blindfold: Blindfold) -> None:
        super().__init__()
        self.blindfold = blindfold

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        spans = self.blindfold.spans("".join(segment.text for segment in segments))
        return _covered(segments, spans) if spans else segments


def _covered(segments: Sequence[Segment], spans: Sequence[tuple[int, int]]) -> list[Segment]:
    covered: list[Segment] = []
    at = 0
    for text, style, control in segments:
        pieces, here = [], 0
        for begin, behind in spans:
            first, end = max(begin - at, here), min(behind - at, len(text))
            if first < end:
                pieces += [text[here:first], BLOCK * Segment(text[first:end]).cell_length]
                here = end
        covered.append(Segment("".join([*pieces, text[here:]]), style, control))
        at += len(text)
    return covered


class VeiledApp(App[Result]):
    """An app that lets no name out while it wears a veil."""

    _veil: Veil | None = None

    def wear(self, blindfold: Blindfold, title: str) -> None:
        """Cover names from now on; the terminal's title becomes ``title``."""
        self.unveil()
        self._veil = Veil(blindfold)
        self._filters.append(self._veil)
        self._tell_terminal(_KEEP_TITLE + _TITLE.format(title))

    def unveil(self) -> None:
        """Cover nothing any more, and give the terminal its title back."""
        if self._veil is not None:
            self._filters.remove(self._veil)
            self._veil = None
            self._tell_terminal(_BACK)

    def _tell_terminal(self, sequence: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def hide(self, text: str) -> str:
        """The text as it may leave the app."""
        return text if self._veil is None else self._veil.blindfold.hide(text)

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """Show a message; its lines are broken anywhere, and half a name tells as much."""
        super().notify(self.hide(message), title=self.hide(title), **options)

    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(self.hide(text))

    def _fatal_error(self) -> None:
        # Textual would print every local variable
        if self._veil is None or self._exception is None:
            super()._fatal_error()
            return
        self.bell()
        told = self.hide("".join(traceback.format_exception(self._exception)))
        self._exit_renderables.append(Text(told))
        self._close_messages_no_wait()
