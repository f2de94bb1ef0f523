"""Verdicts as they stream in, what differs or is worst first, each with the number that decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from judge_tui.checks.events import Done, Event, Failed, Finished, Planned, Progress, Ready, Started
from judge_tui.checks.verdict import Outcome
from judge_tui.tui.engine.check_table import WORTH, CheckState, CheckTable, Key
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.preferences import keep_choice, kept_choice
from judge_tui.tui.look.fitting import fit, fit_middle
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.widgets.bar import Bar, Part, packed
from judge_tui.tui.widgets.check_rows import TITLE, CheckRows, columns_of
from judge_tui.tui.widgets.hollow import Hollow

__all__ = ["CheckRows", "CheckState", "ChecksPane"]

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
#: Rows of the pane from which on one of them tells the whole of what is under the cursor.
_ROOMY = 8
#: What the choice of the reader is kept as.
_CHOICE, _AS_LIST = "checks", "list"
#: Columns of a submission's name from which on it is told.
_NAME = 6
#: Columns of a cell below which a submission's letter and tally stand without a blank between them.
_CLOSE = 8


class ChecksPane(Hollow, Vertical):
    """Title with the tally, the rows, and where there is room what is under the cursor in full.

    Args:
        models: Whose checks, in the order of the screen.
        outcomes: What was found so far, by model and check; kept elsewhere.
        hide: A text as it may be shown.
        titles: What the submissions are called, as far as that may be shown.
    """

    DEFAULT_CSS = """
    ChecksPane { height: 10; background: $surface; }
    ChecksPane Bar.-title { background: $panel; }
    ChecksPane Bar.-whole { background: $surface; }
    """

    def __init__(
        self,
        models: Sequence[str],
        outcomes: Mapping[Key, Outcome],
        hide: Callable[[str], str] = str,
        titles: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        super().__init__(id="checks")
        self.outcomes, self.hide, self._titles = outcomes, hide, titles
        self.letters = {model: "ABCDEFGH"[n] for n, model in enumerate(models)}
        self.table = CheckTable(models, outcomes)
        self.states = self.table.states
        self.rows = CheckRows(self.table, hide, self.relist, self.rearrange)
        self.as_list = kept_choice(_CHOICE) == _AS_LIST
        self.title_bar, self.whole = Bar(classes="-title"), Bar(classes="-whole")
        self.backends: tuple[str, ...] = ()
        self.backend = ""
        self._turn = 0

    def compose(self) -> ComposeResult:
        yield self.title_bar
        yield self.rows
        yield self.whole

    def on_mount(self) -> None:
        self.relist()

    def give(self, rows: int) -> None:
        """Be so many rows high."""
        self.styles.height = rows
        self.whole.display = rows >= _ROOMY and not self.as_list

    @property
    def failure(self) -> str:
        """Why the engine has ended; empty where it has not, or all is well."""
        return self.rows.below

    @property
    def active(self) -> bool:
        """Whether checks run."""
        return self.rows.active

    @active.setter
    def active(self, active: bool) -> None:
        self.rows.active = active

    @property
    def spinner(self) -> str:
        """The sign of what runs."""
        return self.rows.spinner

    @spinner.setter
    def spinner(self, sign: str) -> None:
        self.rows.spinner = sign

    @property
    def seed(self) -> int | None:
        """Of the inputs that the verdicts in view are about, one for all; ``None`` without any."""
        return next((outcome.seed for outcome in self.outcomes.values()), None)

    def take(self, event: Event) -> None:
        """Take an event of the engine in; :meth:`relist` shows it."""
        if isinstance(event, Planned):
            self.backends, self.backend = event.backends, event.backend
            for planned in event.checks:
                state = self.table.state((planned.model, planned.check))
                state.title, state.establishes = planned.title, planned.establishes
        elif isinstance(event, Started):
            state = self.table.state((event.model, event.check))
            state.running, state.note, state.fraction = True, "", None
        elif isinstance(event, Progress):
            state = self.table.state((event.model, event.check))
            state.running, state.note, state.fraction = True, event.note, event.fraction
        elif isinstance(event, Finished):
            self.finish([(event.outcome.model, event.outcome.check)])
        elif isinstance(event, Failed):
            failure = f"{event.message} {event.hint}".strip()
            self.rows.below = f"{failure} ({key_for(self.rows, 'rerun_all')} runs them again)"
            self.stop()
        elif isinstance(event, Ready | Done):
            self.rows.below = ""

    def finish(self, keys: Iterable[Key]) -> None:
        """These have an outcome now, a stored one or a fresh one."""
        for key in keys:
            self.table.state(key).running = False

    def stop(self) -> None:
        """Nothing runs any more."""
        for state in self.states.values():
            state.running = False

    def forget(self, model: str = "") -> None:
        """None runs any more, or none of a submission: backend or files are others."""
        self.rows.below = ""
        for state in (s for key, s in self.states.items() if model in ("", key[0])):
            state.running = False

    def spin(self) -> None:
        """Turn the spinner one step."""
        self._turn += 1
        self.spinner = _SPINNER[self._turn % len(_SPINNER)]
        self.retitle()
        running = [key for key, state in self.states.items() if state.running]
        self.rows.redraw({key if self.as_list else key[1] for key in running})

    def rearrange(self) -> None:
        """Show a row for each check of each submission, or a column for each submission again."""
        cell, focused = self.rows.cell, self.as_list
        self.as_list = not focused
        self.whole.display = self.size.height >= _ROOMY and not self.as_list
        keep_choice(_CHOICE, _AS_LIST if self.as_list else "")
        self.relist()
        if cell is not None:
            key = cell if self.as_list else cell[1]
            self.rows.seat = None if self.as_list else self.table.seats.index(cell[0])
            self.rows.go(list(self.rows.keys).index(key))
            self._tell_whole()

    def relist(self) -> None:
        """Sort and show."""
        self.rows.marks = None if self.as_list else self.table.side_by_side()
        self.rows.show(self.table.listed() if self.rows.marks is None else list(self.rows.marks))
        self.retitle()
        self._tell_whole()

    # the title, and what is under the cursor

    def retitle(self) -> None:
        """Refresh the tally."""
        head: list[Part] = [(TITLE, "strong" if self.rows.has_focus else "muted", 0)]
        if self.failure:
            self.title_bar.tell([*head, (f"{self.hide(self.failure)} ", "error", 0)], self._told())
        elif self.as_list:
            self.title_bar.tell([*head, *self._tally(*self.letters)], self._told())
        else:
            self.title_bar.tell(self._heads(head), self._told())

    def _told(self) -> list[Part]:
        """What stands at the right: whose checks, of which seed, and how many are done."""
        done = sum(self.table.settled(key) is not None for key in self.states)
        total, listed = len(self.states), len(self.rows.keys)
        if not self.as_list:
            total, done = self._in_rows(done)
        told = f"{listed} of {total} checks " if listed < total else f"{total} checks "
        progress = f"{self.spinner} {done}/{total} " if self.active else told
        chosen = [self.letters.get(self.table.only, ""), str(self.table.verdict or "")]
        running = sum(state.running for state in self.states.values())
        return [
            (f"seed {self.seed} · " if self.seed is not None else "", "muted", 4),
            (f"only {' '.join(filter(None, chosen))} · " if any(chosen) else "", "accent", 1),
            (f"{running} running " if running else "", "accent", 3),
            (progress if total or self.active else "", "muted", 2),
        ]

    def _in_rows(self, done: int) -> tuple[int, int]:
        """How many checks there are, one for all submissions, and how many of them are done."""
        checks = {check for _, check in self.states}
        open_ones = {key[1] for key in self.states if self.table.settled(key) is None}
        return len(checks), len(checks - open_ones)

    def _tally(self, *models: str, words: bool = True) -> list[Part]:
        """How many verdicts of each kind there are."""
        settled = (o for key in self.states if key[0] in models and (o := self.table.settled(key)))
        found = Counter(outcome.verdict for outcome in settled)
        return [
            (
                f"{VERDICTS[v][0]} {found[v]} {v}   " if words else f"{VERDICTS[v][0]}{found[v]} ",
                VERDICTS[v][1],
                n,
            )
            for n, v in enumerate(WORTH, 1)
            if found[v]
        ]

    def _heads(self, head: list[Part]) -> list[Part]:
        """The heads of the columns: name and tally of each submission."""
        name, *columns = columns_of(self.size.width - 1, len(self.table.seats))
        parts: list[Part] = [(fit(head[0][0].rstrip(), name), head[0][1], 0)]
        titles = dict(zip(self.letters, self._titles(), strict=False))
        for n, (model, column) in enumerate(zip(self.table.seats, columns, strict=True), 1):
            last = n == len(columns)
            title = fit_middle(self.hide(titles.get(model, "")), max(column // 3, 1))
            # where room is shortest, the tally follows the letter at once
            letter = f" {self.letters[model]}{' ' * (column >= _CLOSE)}"
            who: list[Part] = [(letter, "primary", 0)]
            if column // 3 >= _NAME:
                who.append((f"{title} ", "text", 0))
            cell = [*who, *self._tally(model, words=column >= 48)]
            if last:
                parts += cell
                continue
            fitting = packed(cell, column)
            used = sum(len(text) for text, _ in fitting)
            parts += [(text, tone, 0) for text, tone in fitting]
            parts.append((" " * max(column - used, 0), "muted", 0))
        return parts

    def _tell_whole(self) -> None:
        """Tell all that was found by the check under the cursor, where a row can be spared for it."""
        cell = self.rows.cell
        if cell is None or not self.whole.display:
            self.whole.tell([])
            return
        model, check = cell
        outcome, state = self.table.settled(cell), self.states.get(cell, CheckState())
        said = outcome.summary if outcome is not None else state.note or state.establishes
        text = fit(self.hide(said), max(self.size.width - len(check) - 6, 0))
        head: list[Part] = [(f" {self.letters.get(model, '?')} ", "primary", 0), (f"{check} ", "strong", 0)]
        self.whole.tell([*head, (text, "muted", 0)])

    def on_resize(self, event: events.Resize) -> None:
        self.retitle()
        self._tell_whole()

    def on_rows_pointed(self) -> None:
        self._tell_whole()

    def on_check_rows_turned(self) -> None:
        self._tell_whole()

    def on_descendant_focus(self) -> None:
        self.retitle()

    def on_descendant_blur(self) -> None:
        self.retitle()
