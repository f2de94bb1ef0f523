"""Files and symbols of the code panes of a comparison."""

from __future__ import annotations

from textual.screen import Screen

from judge_tui.tui.code.symbols import kinds, paths
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.session import letter_of

__all__ = ["Files"]


class Files:
    """Brings other files and definitions into view.

    Args:
        screen: Where choices are offered.
        panes: The code.
    """

    def __init__(self, screen: Screen[None], panes: Panes) -> None:
        self._screen, self._panes = screen, panes

    def choose(self) -> None:
        """Offer the files of the current pane."""
        from judge_tui.tui.screens.picker import Choice, Picker

        pane = self._panes.current
        choices = [Choice(pane.hide(name), "", name, path=True) for name in pane.submission.files]
        aside = len(pane.submission.unlisted)
        title = f"Files of {letter_of(pane.index)} {pane.title}" + (f" · {aside} left out" if aside else "")
        self._screen.app.push_screen(
            Picker(title, choices, pane.file), lambda name: pane.open(name) if isinstance(name, str) else None
        )

    def choose_symbol(self) -> None:
        """Offer the functions and classes of the file in view."""
        from judge_tui.tui.screens.picker import Choice, Picker

        pane = self._panes.current
        joint = "." if pane.file.endswith(".py") else "::"
        choices = [
            Choice("  " * s.depth + s.name, f"{kind} · line {s.line + 1}", s.line, joint.join(path))
            for (s, path), kind in zip(paths(pane.view.symbols), kinds(pane.view.symbols), strict=True)
        ]
        if not choices:
            self._screen.notify("No symbols in this file.", markup=False, timeout=2)
            return
        here = pane.view.symbol_at(pane.view.cursor)
        title = f"{pane.view.symbols_title.capitalize()} of {pane.hide(pane.file)}"
        self._screen.app.push_screen(
            Picker(title, choices, here.line if here else None),
            lambda line: pane.view.go(line, centre=True) if isinstance(line, int) else None,
        )

    def step(self, step: int) -> None:
        """Open the next file, or the one before."""
        pane = self._panes.current
        files = pane.submission.files
        if files:
            # a file that is gone from disk stays in view, and is none of them
            at = files.index(pane.file) if pane.file in files else -max(step, 0)
            pane.open(files[(at + step) % len(files)])
