"""The keys of a comparison: hinted at below it, and listed in the help."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.screen import Screen
from textual.widget import Widget

from judge_tui.tui.keys.bound_keys import KeyPart, key_for, keys_for, listed, own_bindings
from judge_tui.tui.screens.comparing.layout import Layout
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.signs import CHECK_SIGNS, CODE_SIGNS, RUBRIC_SIGNS
from judge_tui.tui.session import Session
from judge_tui.tui.widgets.checks_pane import ChecksPane
from judge_tui.tui.widgets.key_hints import Hint, KeyHints
from judge_tui.tui.widgets.rubric_pane import RubricLines, RubricPane

__all__ = ["Hints"]


class Hints:
    """Knows which keys mean what where the focus is.

    Args:
        screen: Whose keys they are.
        bar: Where they are hinted at.
        session: What is scored.
        layout: Which part is in focus.
        panes: The code.
        rubric: The rubric's pane.
        checks: The checks' pane.
    """

    def __init__(
        self,
        screen: Screen[None],
        bar: KeyHints,
        session: Session,
        layout: Layout,
        panes: Panes,
        rubric: RubricPane,
        checks: ChecksPane,
    ) -> None:
        self._screen, self._bar, self._session = screen, bar, session
        self._layout, self._panes, self._rubric, self._checks = layout, panes, rubric, checks

    @property
    def _search(self) -> Widget | None:
        """The line that a search is typed in, where it is in focus."""
        focused = self._screen.focused
        searching = focused is not None and focused.parent is not None and focused.parent.id == "search"
        return focused if searching else None

    def tell(self) -> None:
        """Hint at the keys of what is in focus."""
        screen, session, focused = self._screen, self._session, self._screen.focused
        view = self._panes.current.view
        if (search := self._search) is not None:
            self._bar.tell(
                (
                    (key_for(search, "close(True)"), "keep the hits"),
                    (keys_for(view, "hit(1)", "hit(-1)"), "next, previous, afterwards"),
                    (key_for(search, "regex"), "regular expression"),
                    (key_for(search, "close(False)"), "drop, and back"),
                )
            )
        elif isinstance(focused, RubricLines) and session.asks_over:
            over = f"writes {session.typed_over} over {session.score}"
            keeps = f"keeps {session.score}"
            self._bar.tell(((key_for(focused, "edit"), over), (key_for(screen, "back"), keeps)))
        else:
            self._tell_keys(focused)

    def _tell_keys(self, focused: Widget | None) -> None:
        screen, part = self._screen, self._layout.in_focus
        dimensions = tuple(one.key for one in self._session.rubric.dimensions)
        hints: dict[str, str] = {}
        # the key that leads here says nothing here; the one that leads back does
        here = {"rubric": key_for(screen, "score"), "checks": key_for(screen, "checks")}.get(part, "")
        asks = key_for(screen, "help")
        if isinstance(focused, RubricLines):
            hints = dict.fromkeys(dimensions, "")
        for node in (focused, screen):
            for keys, text, shown in listed(own_bindings(node) if node is not None else ()):
                first = keys.split(" ")[0]
                if shown and first not in hints:
                    hints[first] = text
        told: list[Hint] = [(key, text) for key, text in hints.items() if text and key not in (asks, here)]
        if part == "code":
            told.insert(
                0, (keys_for(screen, *(f"code({index})" for index in range(len(self._panes)))), "pane")
            )
        if isinstance(focused, RubricLines):
            told.insert(0, (dimensions, "dimension"))
        if here:
            told.insert(4 if part == "rubric" else 3, (key_for(screen, "back"), "code"))
        self._bar.tell(tuple(told), (asks, "help"))

    def key_parts(self) -> Sequence[KeyPart]:
        """What answers to keys, the part in focus first."""
        layout = self._layout
        code = partial(layout.focus_code, self._panes.at)
        rubric = "Rubric (the key of a dimension goes there, whatever else it means)"
        known = {
            "code": KeyPart("Code", self._panes.current.view, code, CODE_SIGNS),
            "rubric": KeyPart(rubric, self._rubric.lines, layout.focus_rubric, RUBRIC_SIGNS),
            "checks": KeyPart("Checks", self._checks.rows, layout.focus_checks, CHECK_SIGNS),
        }
        order = [layout.in_focus, *(name for name in known if name != layout.in_focus)]
        typed = self._search
        search = [KeyPart("Search", typed)] if typed is not None else []
        return [*search, *(known[name] for name in order), KeyPart("Everywhere", self._screen)]
