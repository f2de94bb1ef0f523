"""The rows of the checks: a column for each submission, or a row for each check of each of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.message import Message

from judge_tui.checks.verdict import Outcome
from judge_tui.judging.read_only import holds
from judge_tui.tui.engine.check_table import CheckState, CheckTable, Key
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit, wrapped
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["TITLE", "CheckRows", "columns_of"]

#: What stands before what the title of the checks tells.
TITLE = " Checks  "
#: Columns of the sign that tells that a check found something else of each submission.
_SIGN = len(" ≠ ")
#: Columns of a cell from which on a verdict is told by its word too, and what was found by a sentence.
_WORDY, _TALKATIVE = 44, 30
#: What stands where whoever only looks finds nothing.
_NONE_TO_READ = " No verdict is stored, and none is found while one only looks."


def columns_of(width: int, seats: int) -> tuple[int, ...]:
    """Columns of a check's name, sign included, and of what is said of each submission.

    Args:
        width: Of a row.
        seats: How many submissions there are.
    """
    name = min(26, max(width // 5, 7)) + _SIGN
    room = max(width - name, seats)
    return (name, *(room // seats + (n < room % seats) for n in range(seats)))


class CheckRows(Rows):
    """The list of checks.

    Args:
        table: What is known of them.
        hide: A text as it may be shown.
        filtered: Called when others are to be listed.
        rearrange: Shows them in the other way.

    Attributes:
        marks: Check → in what the submissions differ, where each has a column; ``None`` where none has.
        seat: The submission that was chosen, by its column; ``None`` where each check shows the worst first.
        spinner: The sign of what runs.
        active: Whether checks run.
        below: What is told below the rows.
    """

    BINDINGS: ClassVar = [
        Binding("enter", "open", "evidence"),
        Binding("o", "jump", "jump to line"),
        Binding("m", "rearrange", "side by side, or as a list"),
        Binding("r", "rerun", "run again"),
        Binding("R", "rerun_all", "run all again"),
        Binding("x", "cancel", "cancel"),
        Binding("b", "backend", "next backend"),
        Binding("w,f", "filter", "one submission"),
        Binding("v", "filter_verdict", "one verdict"),
        Binding("d", "differ", "where they differ"),
        Binding("h,left", "seat(-1)", "the submission at the left", show=False),
        Binding("l,right", "seat(1)", "the submission at the right", show=False),
        Binding("e", "adapter", "say how it is called", show=False),
        Binding("p", "repair", "one edit that mends it", show=False),
        Binding("F", "auto", "run again when files change, or not", show=False),
    ]

    BINDINGS = named("checks", BINDINGS)

    class Asked(Message):
        """A key asked for something: ``jump``, ``rerun``, ``cancel``, ``differ`` and so on."""

        def __init__(self, what: str, key: Hashable) -> None:
            super().__init__()
            self.what, self.key = what, key

    class Turned(Message):
        """Another submission's column was chosen."""

    def __init__(
        self,
        table: CheckTable,
        hide: Callable[[str], str],
        filtered: Callable[[], None],
        rearrange: Callable[[], None],
    ) -> None:
        super().__init__(id="check-rows")
        self.table, self._hide = table, hide
        self._filtered, self._rearrange = filtered, rearrange
        self._letters = {model: "ABCDEFGH"[n] for n, model in enumerate(table.models)}
        self.marks: dict[str, str] | None = {}
        self.seat: int | None = None
        self.spinner, self.active, self.below = " ", False, ""

    @property
    def own_words(self) -> dict[str, str]:
        """What the key leads to that shows the checks in the other way."""
        return {"rearrange": "side by side" if self.marks is None else "as a list"}

    @property
    def cell(self) -> Key | None:
        """The check under the cursor, of one submission."""
        key = self.key
        if isinstance(key, str):
            return self.table.seats[self._seat_of(key)], key
        return key if isinstance(key, tuple) else None

    def _seat_of(self, check: str) -> int:
        last = len(self.table.seats) - 1
        return self.table.worst(check) if self.seat is None else min(self.seat, last)

    # drawing

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        if isinstance(key, str):
            return self._across(key, tones)
        assert isinstance(key, tuple)
        state, outcome = self.table.states[key], self.table.settled(key)
        model, check = key
        name = fit(check, min(26, max(width // 3, 14)))
        who = self._letters.get(model, "?")
        if outcome is None:
            return self._under_way(state, who, name, tones)
        verdict = str(outcome.verdict)
        return [
            (f" {VERDICTS[verdict][0]} {verdict:<9} ", tones.verdict(verdict)),
            (f"{who} ", tones.by_name["primary"]),
            (f"{name} ", tones.text),
            (self._hide(outcome.summary), tones.muted),
        ]

    def _under_way(self, state: CheckState, who: str, name: str, tones: Tones) -> Sequence[Span]:
        if not state.running:
            return [
                (f" · {'waiting' if self.active else 'not run':<9} ", tones.faint),
                (f"{who} ", tones.faint),
                (f"{name} ", tones.faint),
                (self._hide(state.establishes), tones.faint),
            ]
        return [
            (f" {self.spinner} running   ", tones.by_name["accent"]),
            (f"{who} ", tones.by_name["primary"]),
            (f"{name} ", tones.text),
            (self._progress(state), tones.muted),
        ]

    def _progress(self, state: CheckState) -> str:
        share = f"{state.fraction:.0%} " if state.fraction is not None else ""
        return share + self._hide(state.note)

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns of a check's name, and of each submission; the scrollbar's is never among them."""
        return columns_of(self.size.width - 1, len(self.table.seats))

    def _across(self, check: str, tones: Tones) -> Sequence[Span]:
        """A check, and what it found of each submission."""
        name, *cells = self.columns
        mark = (self.marks or {}).get(check, "")
        spans: list[Span] = [
            (f" {mark:<2}", tones.by_name["accent"]),
            (fit(check, name - _SIGN), tones.text),
        ]
        # only the cursor's row has a chosen cell
        chosen = self._seat_of(check) if check == self.key else -1
        for seat, (model, column) in enumerate(zip(self.table.seats, cells, strict=True)):
            lead = "▸" if seat == chosen and len(cells) > 1 else " "
            drawn = self._cell((model, check), column - 1, tones)
            if lead == "▸" and self.has_focus:
                drawn = [(text, style + tones.selected) for text, style in drawn]
            spans += [(lead, tones.by_name["accent"]), *drawn]
        return spans

    def _cell(self, key: Key, column: int, tones: Tones) -> list[Span]:
        state, outcome = self.table.states.get(key), self.table.settled(key)
        if state is None:
            return [(fit("· none", column), tones.faint)]
        if outcome is not None:
            verdict = str(outcome.verdict)
            word = f"{verdict:<9} " if column >= _WORDY else ""
            head, tone, told = f"{VERDICTS[verdict][0]} {word}", tones.verdict(verdict), outcome
        elif state.running:
            head, tone, told = f"{self.spinner} ", tones.by_name["accent"], None
        else:
            waits = "waiting" if self.active else "not run"
            return [(fit(f"· {waits}", column), tones.faint)]
        head = head[:column]
        room = column - len(head)
        said = self._said(told, room) if told is not None else self._progress(state) or "running"
        return [(head, tone), (fit(said, max(room - 1, 0)) + " " * (room > 0), tones.muted)]

    def _said(self, outcome: Outcome, room: int) -> str:
        """What decided, in so many columns: a sentence, or the figure where there is no room for one."""
        from judge_tui.tui.engine.differences import decisive, figure_of

        item = decisive(outcome)
        if room >= _TALKATIVE or item is None or item.limit is None:
            return self._hide(outcome.summary)
        return self._hide(figure_of(outcome, room))

    def draw_below(self, line: int, width: int, tones: Tones) -> Sequence[Span]:
        if not self.keys and holds():
            return [(_NONE_TO_READ, tones.muted)] if not line else ()
        told = self._hide(self.below)
        if len(told) + len(TITLE) < width:
            # the title has room for it
            return ()
        lines = wrapped(told, max(width - 2, 10))
        return [(f" {lines[line]}", tones.by_name["error"])] if line < len(lines) else ()

    # keys and mouse

    def action_open(self) -> None:
        if self.cell is not None:
            self.post_message(self.Opened(self, self.cell))

    def action_seat(self, step: int) -> None:
        if isinstance(self.key, str):
            self._turn(self._seat_of(self.key) + step * self.times)

    def _turn(self, seat: int) -> None:
        self.seat = min(max(seat, 0), len(self.table.seats) - 1)
        self.refresh_line(self.cursor)
        self.post_message(self.Turned())

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y
        if self.marks is None or row >= len(self.keys):
            return
        event.prevent_default()
        name, *cells = self.columns
        before, ends = self.cell, [name + sum(cells[: n + 1]) for n in range(len(cells))]
        at = event.x
        if at >= name:
            self.seat = next((seat for seat, end in enumerate(ends) if at < end), len(cells) - 1)
        again = row == self.cursor and event.chain > 1
        self.go(row)
        self.post_message(self.Turned())
        if again and self.cell == before:
            self.action_open()

    def _ask(self, what: str) -> None:
        self.post_message(self.Asked(what, self.cell))

    def action_jump(self) -> None:
        self._ask("jump")

    def action_rerun(self) -> None:
        self._ask("rerun")

    def action_rerun_all(self) -> None:
        self._ask("rerun_all")

    def action_cancel(self) -> None:
        self._ask("cancel")

    def action_backend(self) -> None:
        self._ask("backend")

    def action_differ(self) -> None:
        self._ask("differ")

    def action_adapter(self) -> None:
        self._ask("adapter")

    def action_repair(self) -> None:
        self._ask("repair")

    def action_auto(self) -> None:
        self._ask("auto")

    def action_filter(self) -> None:
        self.table.next_submission()
        self._filtered()

    def action_filter_verdict(self) -> None:
        self.table.next_verdict()
        self._filtered()

    def action_rearrange(self) -> None:
        self._rearrange()
