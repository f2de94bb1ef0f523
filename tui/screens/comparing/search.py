"""Search in the code panes of a comparison."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.code.search import Hit, Pattern, compile_pattern, find, narrowed
from judge_tui.tui.code.source import Source
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.screens.comparing.panes import Panes
from judge_tui.tui.screens.comparing.sync import Sync
from judge_tui.tui.session import letter_of
from judge_tui.tui.widgets.code_hits import Standing
from judge_tui.tui.widgets.code_pane import CodePane
from judge_tui.tui.widgets.code_view import CodeView
from judge_tui.tui.widgets.counted import past_end

if TYPE_CHECKING:
    from judge_tui.tui.widgets.search_bar import SearchBar

__all__ = ["Search"]

#: Seconds within which counts are told together.
_AT_ONCE_S = 0.1


class Search:
    """Searches the code, and shows hits while a search is typed.

    Args:
        screen: Where it is typed and told.
        panes: The code.
        sync: Has the other panes follow one that goes to a hit.

    Attributes:
        query: What is searched for: text, and whether it is an expression.
    """

    def __init__(self, screen: Screen[None], panes: Panes, sync: Sync) -> None:
        self._screen, self._panes, self._sync = screen, panes, sync
        self.query: tuple[str, bool] = ("", False)
        #: What was searched for when a search was last kept.
        self._kept: tuple[str, bool] = ("", False)
        #: What is wrong with what is typed.
        self._fault = ""
        #: The pane that goes to a hit once there are some, and how many further, or from where to the first.
        self._going: tuple[CodePane, int | Standing] | None = None
        #: Where a search began that is being typed, and whether anything of it has been.
        self._began: tuple[CodePane, Standing] | None = None
        self._typed = False
        self._generation = 0
        self._asked_at = 0.0
        #: What was found in each pane; none while nothing is searched for.
        self._counts: dict[int, str] | None = None
        self._last: dict[int, tuple[Source, Pattern, list[Hit]]] | None = None

    def begin(self) -> None:
        """Open the line that a search is typed in, or go back to it."""
        from judge_tui.tui.widgets.search_bar import SearchBar

        pane = self._panes.current
        self._began, self._typed = (pane, pane.view.standing), False
        if not self._screen.query("#search"):
            # messages stand above it
            self._screen.add_class("-searching")
            self._screen.mount(SearchBar(self.query[0], regex=self.query[1]), before="#hints")
        else:
            self._screen.query_one("#search Input").focus()

    def typed(self, event: SearchBar.Changed) -> None:
        """Search for what is typed so far."""
        query = event.text, event.regex
        self._typed = self._typed or query != self.query
        self.query, self._going = query, None
        self._search()

    def _search(self) -> None:
        text, regex = self.query
        self._generation += 1
        self._fault = ""
        try:
            pattern = compile_pattern(text, regex=regex)
        except re.error as error:
            # the hits of what was typed before are not those of this
            self._clear()
            self._look()
            self._fault = error.msg
            self._say(error.msg)
            return
        if pattern is None:
            self._clear()
            self._look()
            return
        generation, self._asked_at = self._generation, time.monotonic()
        self._counts = dict.fromkeys(range(len(self._panes)), "…")
        last, self._last = self._last or {}, {}
        for pane in self._panes:
            source, known = pane.source, last.get(pane.index)
            pane.search(
                partial(self._hits, source, pattern, generation, known),
                partial(self._found, pane, source, pattern, generation=generation),
            )

    def _hits(
        self,
        source: Source,
        pattern: Pattern,
        generation: int,
        last: tuple[Source, Pattern, list[Hit]] | None,
    ) -> list[Hit] | None:
        if last is not None and last[0] is source:
            # a query that grows: its matches are among those that were found
            found = narrowed(source, pattern, last[1], last[2])
            if found is not None:
                return found
        try:
            return find(source, pattern, lambda: generation == self._generation)
        except TimeoutError:
            return None

    def _found(
        self, pane: CodePane, source: Source, pattern: Pattern, hits: list[Hit] | None, generation: int
    ) -> None:
        if generation != self._generation or source is not pane.source:
            return
        assert self._counts is not None
        pane.view.search(hits or ())
        if hits is not None and self._last is not None:
            self._last[pane.index] = source, pattern, hits
        if hits is None:
            self._counts[pane.index] = "given up: too slow"
            pane.counts = "search given up"
        else:
            self._counts[pane.index] = f"{len(hits)}{'+' if len(hits) >= 20_000 else ''}"
            pane.counts = f"{self._counts[pane.index]} found"
        if self._began is not None and self._began[0] is pane:
            self._look()
        pane.retitle()
        waiting = self._waiting
        if waiting and self._going is None and time.monotonic() - self._asked_at < _AT_ONCE_S:
            # the others follow in a moment: one frame for all
            return
        self._say("  ".join(f"{letter_of(index)} {count}" for index, count in self._counts.items()))
        self._go_on()
        if not waiting and isinstance(self._screen.app, TypeAhead):
            self._screen.app.draw_soon()

    def _say(self, text: str) -> None:
        from judge_tui.tui.widgets.search_bar import SearchBar

        for bar in self._screen.query(SearchBar):
            bar.count(text, wrong=bool(self._fault))

    def close(self, event: SearchBar.Closed) -> None:
        """Keep what was searched for, or drop it."""
        if event.kept and self._fault:
            # nothing was searched for that could be kept
            return
        self._screen.query("#search").remove()
        self._screen.remove_class("-searching")
        pane = self._panes.current
        began, self._began = self._began, None
        pane.view.focus()
        if event.kept:
            self._kept = self.query
            here = began is not None and began[0] is pane and began[1].source is pane.source
            self._go(pane, began[1] if began is not None and here else pane.view.standing)
            return
        self._clear()
        if began is not None:
            began[0].view.stand(began[1])
        if self._kept[0] or self._fault:
            # what is given up is forgotten, as in vim
            self.query, self._fault = self._kept, ""

    def _look(self) -> None:
        """Show the first hit of what is typed so far, in the pane where that began."""
        if self._began is not None and self._typed:
            pane, standing = self._began
            pane.view.look_from(standing)

    def go_on(self, event: CodeView.NoHit) -> None:
        """Go to a hit in a view that shows none."""
        if self.query[0]:
            self._go(self._panes.showing(event.view), event.steps)
        else:
            self._screen.notify("nothing is searched for", markup=False, timeout=2)

    @property
    def _waiting(self) -> bool:
        """Whether a search is on its way."""
        return self._counts is not None and "…" in self._counts.values()

    def _go(self, pane: CodePane, steps: int | Standing) -> None:
        """Go to a hit as soon as there is one; what was dropped is searched for again."""
        self._going = pane, steps
        if self._counts is None:
            self._search()
        else:
            self._go_on()

    def _go_on(self) -> None:
        if self._going is None or self._counts is None:
            return
        pane, steps = self._going
        if self._counts[pane.index] == "…" or (self._waiting and not pane.view.hits):
            return
        self._going = None
        if isinstance(steps, Standing):
            self._arrive(pane, steps)
        elif pane.view.hits:
            pane.view.go_to_hit(steps)
        else:
            self._tell_none()

    def _arrive(self, pane: CodePane, began: Standing) -> None:
        """Stay at the first hit from where a search began, which is a jump from there."""
        pane.view.look_from(began)
        now = pane.view.cursor
        if now != began.cursor:
            pane.leaving(pane, began.cursor)
        if now < began.cursor:
            self._screen.notify(past_end("match", 1), markup=False, timeout=2)
        self._sync.catch_up(pane)

    def _tell_none(self) -> None:
        counts = self._counts or {}
        others = [pane for pane in self._panes if pane.view.hits]
        told = ", ".join(f"{counts[pane.index]} in {letter_of(pane.index)}" for pane in others)
        words = ["no match in this file", told] if told else ["no match in this file"]
        if len(self._panes.current.submission.files) > 1:
            words.append(f"{key_for(self._screen, 'files')} opens others")
        self._screen.notify("; ".join(words), markup=False, timeout=2)

    def clear(self) -> None:
        """Show no hits any more."""
        if self._counts is not None:
            self._clear()

    def _clear(self) -> None:
        self._generation += 1
        self._going = self._counts = None
        for pane in self._panes:
            pane.view.search(())
            pane.counts = ""
            pane.retitle()
        self._say("")

    def again(self) -> None:
        """Search again: another file came into view."""
        if self.query[0] and any(pane.counts for pane in self._panes):
            self._search()
