"""A function of a comparison beside those that answer it, line against line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.code.symbols import Symbol
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.sync import Sync
from judge_tui.tui.session import letter_of
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView

if TYPE_CHECKING:
    from judge_tui.tui.code.line_diff import LineDiff, Row

__all__ = ["show_diff"]


def show_diff(screen: Screen[None], panes: Panes, sync: Sync) -> None:
    """Show the function of the cursor beside those that it is matched with.

    Args:
        screen: Where they are shown.
        panes: The code.
        sync: Knows what answers what.
    """
    leader = panes.current
    sides: list[tuple[CodePane, Symbol]] = []
    for pane in panes:
        if pane is leader:
            continue
        alignment = sync.alignment(leader, pane)
        if alignment is None:
            sync.match(leader, pane, partial(show_diff, screen, panes, sync))
            return
        found = alignment.around(leader.view.cursor)
        if found is None:
            screen.notify(_nowhere(leader.view), markup=False, timeout=3)
            return
        ours, theirs = found
        sides = sides or [(leader, ours)]
        if theirs is not None and ours == sides[0][1]:
            sides.append((pane, theirs))
    if len(sides) < 2:
        nothing = f"The files in view have nothing like {sides[0][1].name}"
        few = next((pane.view.symbols_title for pane in panes if not pane.view.all_symbols), "")
        screen.notify(
            f"{nothing} among the {few} of a file." if few else f"{nothing}.", markup=False, timeout=3
        )
        return
    _against(screen, sorted(sides, key=lambda side: side[0].index))


def _against(screen: Screen[None], sides: list[tuple[CodePane, Symbol]]) -> None:
    from judge_tui.tui.code.line_diff import line_diff
    from judge_tui.tui.screens.diff import DiffScreen, Excerpt

    excerpts = [
        Excerpt(
            f"{letter_of(pane.index)} {pane.title}",
            symbol.name,
            symbol.line,
            pane.source.lines[symbol.line : symbol.end + 1],
        )
        for pane, symbol in sides
    ]

    def chosen(row: Row | None) -> None:
        for (pane, _), line in zip(sides, row or (), strict=False):
            if line is not None:
                pane.view.go(line, centre=True)

    def shown(diff: LineDiff) -> None:
        screen.app.push_screen(DiffScreen(excerpts, diff), chosen)

    sides[0][0].submit(lambda: line_diff([excerpt.lines for excerpt in excerpts]), shown)


def _nowhere(view: CodeView) -> str:
    """Why no function or class is round the cursor."""
    if not view.all_symbols and view.cursor > view.symbols[-1].line:
        return f"The cursor stands behind the {view.symbols_title} of the file; no others are known."
    return "Put the cursor into a function or class."
