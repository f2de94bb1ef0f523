"""Where do they differ? Every check, and what it found of each submission, side by side."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding

from judge_tui.checks.verdict import SEVERITY, Outcome
from judge_tui.tui.engine.differences import FACTOR, Difference, figure_of
from judge_tui.tui.keys.bound_keys import key_for, keys_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["DifferencesScreen"]

#: Columns of the sign that tells in what a check differs.
_SIGN = len(" ≠ ")


class _Table(Rows):
    found: Sequence[Difference] = ()

    @property
    def columns(self) -> tuple[int, int]:
        """Columns of a check's name, with the sign before it, and of what is said of a submission."""
        width = self.screen.size.width - 1
        name = min(26, max(width // 5, 12)) + _SIGN
        return name, max((width - name) // max(len(self.found[0].outcomes) if self.found else 1, 1), 12)

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, int)
        row = self.found[key]
        name, column = self.columns
        mark = "≠" if row.verdicts else "~" if row.figures else "="
        spans: list[Span] = [
            (f" {mark} ", tones.by_name["accent"] if mark != "=" else tones.faint),
            (fit(row.check, name - _SIGN), tones.text),
        ]
        for outcome in row.outcomes:
            spans += self._cell(outcome, column, tones)
        return spans

    def _cell(self, outcome: Outcome | None, column: int, tones: Tones) -> list[Span]:
        if outcome is None:
            return [(fit(" · not run", column), tones.faint)]
        verdict = str(outcome.verdict)
        head = f" {VERDICTS[verdict][0]} {verdict} "
        room = max(column - len(head), 0)
        return [
            (fit(head, min(len(head), column)), tones.verdict(verdict)),
            (fit(figure_of(outcome, room), room), tones.muted),
        ]


class DifferencesScreen(Sheet["tuple[int, str] | None"]):
    """Gives the submission and the check whose evidence is to be opened.

    Args:
        found: All checks, those with differences first.
        who: Letter and name of each submission.
    """

    BINDINGS: ClassVar = [
        Binding("escape,q,d", "close", "back"),
        Binding("a", "all", "all checks"),
        Binding("A", "evidence(0)", "evidence of A"),
        Binding("B", "evidence(1)", "evidence of B"),
        Binding("C", "evidence(2)", "evidence of C", show=False),
    ]

    BINDINGS = named("differences", BINDINGS)
    title_of_keys = "Where they differ"
    rows: _Table

    def __init__(self, found: Sequence[Difference], who: Sequence[str]) -> None:
        super().__init__()
        self._found, self._who = found, who
        self._all = False
        self._heads = Bar()
        self.rows = _Table()
        self.rows.found = found

    def compose(self) -> ComposeResult:
        title, *rest = super().compose()
        yield title
        yield self._heads
        yield from rest

    def on_mount(self) -> None:
        keys = keys_for(self, *(f"evidence({index})" for index in range(len(self._who))))
        self.hint(
            (
                (key_for(self, "close"), "back"),
                (key_for(self.rows, "open"), "the worse one's evidence"),
                (keys, "evidence"),
                (key_for(self, "all"), "all checks"),
            )
        )
        self._relist()
        self.rows.focus()

    def _relist(self) -> None:
        differing = [n for n, row in enumerate(self._found) if row.verdicts or row.figures]
        keys = range(len(self._found)) if self._all else differing
        self.rows.show(keys)
        told = f"{len(differing)} of {len(self._found)} checks differ"
        self.query_one(Bar).tell(
            [(f" {told} ", "strong", 0)],
            [(f"≠ verdicts  ~ figures, by {FACTOR:g} times or more ", "muted", 2)],
        )

    def on_resize(self) -> None:
        name, column = self.rows.columns
        check = fit(f"{' ' * _SIGN}check", name), "muted", 0
        self._heads.tell([check, *((fit(f" {who}", column), "primary", 0) for who in self._who)])

    def action_all(self) -> None:
        self._all = not self._all
        self._relist()

    def _open(self, index: int) -> None:
        if isinstance(self.rows.key, int):
            row = self._found[self.rows.key]
            if index < len(row.outcomes) and row.outcomes[index] is not None:
                self.dismiss((index, row.check))

    def action_evidence(self, index: int) -> None:
        self._open(index)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        assert isinstance(event.key, int)
        outcomes = self._found[event.key].outcomes
        there = [(SEVERITY[o.verdict], n) for n, o in enumerate(outcomes) if o is not None]
        self._open(min(there)[1])
