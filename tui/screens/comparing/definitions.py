"""Going to the definition of what a line of a comparison uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.code.highlight import Highlight, read
from judge_tui.tui.code.source import Source
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import letter_of
from judge_tui.tui.widgets.code_pane import CodePane

if TYPE_CHECKING:
    from judge_tui.tui.code.definitions import Definition, Index

__all__ = ["Definitions"]


class Definitions:
    """Knows what the submissions define, and goes there.

    Args:
        screen: Where it is told.
        panes: The code.
    """

    def __init__(self, screen: Screen[None], panes: Panes) -> None:
        self._screen, self._panes = screen, panes
        self._indices: dict[int, Index] = {}

    def go(self) -> None:
        """Go to the definition of what the line of the cursor uses."""
        pane = self._panes.current
        known = self._indices.get(pane.index)
        if known is not None:
            self._define(pane, known)
            return

        def indexed(found: Index) -> None:
            self._indices[pane.index] = found
            if pane is self._panes.current:
                self._define(pane, found)

        submission = pane.submission

        def parsed(file: str) -> tuple[Source, Highlight] | None:
            source, highlight = pane.known(file)
            if source is None:
                source = Source(submission.read_bytes(file))
            return source, highlight or read(file, source.bare)

        def indexing() -> Index:
            from judge_tui.tui.code.definitions import index

            return index(submission.files, parsed)

        pane.submit(indexing, indexed)

    def forget(self, pane: CodePane) -> None:
        """The files of a pane have changed."""
        self._indices.pop(pane.index, None)

    def _define(self, pane: CodePane, known: Index) -> None:
        from judge_tui.tui.code.definitions import names_in
        from judge_tui.tui.screens.picker import Choice, Picker

        line = pane.view.cursor
        used = names_in(pane.source, pane.view.highlight, line)
        found = known.of(used, pane.file, line)
        if not found:
            told = "Nothing that this line uses is defined in the submission."
            self._screen.notify(told, markup=False, timeout=3)
        elif len(found) == 1:
            self._show(pane, found[0])
        else:
            choices = [
                Choice(pane.hide(d.name), f"{d.kind} · {pane.hide(d.file)}:{d.line + 1}", d) for d in found
            ]

            def chosen(value: object) -> None:
                if value in found:
                    self._show(pane, found[found.index(value)])

            self._screen.app.push_screen(
                Picker(f"Defined in {letter_of(pane.index)} {pane.title}", choices, found[0]), chosen
            )

    def _show(self, pane: CodePane, definition: Definition) -> None:
        pane.open(definition.file, definition.line)
