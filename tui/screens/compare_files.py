"""Files and symbols of the code panes of a comparison."""

from __future__ import annotations

from textual.screen import Screen

from judge_tui.tui.code.symbols import kinds, paths
from judge_tui.tui.session import letter_of
from judge_tui.tui.widgets.code_pane import CodePane

__all__ = ["CompareFiles"]


class CompareFiles(Screen[None]):
    """The part of the comparison that brings other files and definitions into view."""

    panes: list[CodePane]
    _pane: int

    def action_files(self) -> None:
        from judge_tui.tui.screens.picker import Choice, Picker

        pane = self.panes[self._pane]
        choices = [Choice(pane.hide(name), "", name, path=True) for name in pane.submission.files]
        aside = len(pane.submission.unlisted)
        title = f"Files of {letter_of(pane.index)} {pane.title}" + (f" · {aside} left out" if aside else "")
        self.app.push_screen(
            Picker(title, choices, pane.file), lambda name: pane.open(name) if isinstance(name, str) else None
        )

    def action_symbols(self) -> None:
        from judge_tui.tui.screens.picker import Choice, Picker

        pane = self.panes[self._pane]
        joint = "." if pane.file.endswith(".py") else "::"
        choices = [
            Choice("  " * s.depth + s.name, f"{kind} · line {s.line + 1}", s.line, joint.join(path))
            for (s, path), kind in zip(paths(pane.view.symbols), kinds(pane.view.symbols), strict=True)
        ]
        if not choices:
            self.notify("No symbols in this file.", markup=False, timeout=2)
            return
        here = pane.view.symbol_at(pane.view.cursor)
        title = f"{pane.view.symbols_title.capitalize()} of {pane.hide(pane.file)}"
        self.app.push_screen(
            Picker(title, choices, here.line if here else None),
            lambda line: pane.view.go(line, centre=True) if isinstance(line, int) else None,
        )

    def action_file(self, step: int) -> None:
        pane = self.panes[self._pane]
        files = pane.submission.files
        if files:
            # a file that is gone from disk stays in view, and is none of them
            at = files.index(pane.file) if pane.file in files else -max(step, 0)
            pane.open(files[(at + step) % len(files)])
