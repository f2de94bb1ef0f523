"""Verdicts as they stream in, the worst first, each with the number that decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message

from judge_tui.checks.events import Done, Event, Failed, Finished, Planned, Progress, Ready, Started
from judge_tui.checks.verdict import SEVERITY, Outcome, Verdict
from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.fitting import fit, wrapped
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.widgets.bar import Bar, Part
from judge_tui.tui.widgets.hollow import Hollow
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["CheckRows", "CheckState", "ChecksPane"]

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_WORTH = (
    Verdict.FAIL,
    Verdict.ERROR,
    Verdict.WARN,
    Verdict.AMBIGUOUS,
    Verdict.UNBOUND,
    Verdict.SKIP,
    Verdict.PASS,
)

Key = tuple[str, str]


#: Columns of the title before what it tells.
_HEAD = len(" Checks  ")


class CheckState(Struct):
    """A check of one submission: what it is about, and how far it is."""

    title: str = ""
    establishes: str = ""
    running: bool = False
    note: str = ""
    fraction: float | None = None


class CheckRows(Rows):
    """The list of checks."""

    BINDINGS: ClassVar = [
        Binding("enter", "open", "evidence"),
        Binding("o", "jump", "jump to line"),
        Binding("r", "rerun", "run again"),
        Binding("R", "rerun_all", "run all again"),
        Binding("x", "cancel", "cancel"),
        Binding("b", "backend", "next backend"),
        Binding("w,f", "filter", "one submission"),
        Binding("v", "filter_verdict", "one verdict"),
        Binding("d", "differ", "where they differ"),
        Binding("e", "adapter", "say how it is called", show=False),
        Binding("F", "auto", "run again when files change, or not", show=False),
    ]

    BINDINGS = named("checks", BINDINGS)

    class Asked(Message):
        """A key asked for something: ``jump``, ``rerun``, ``cancel``, ``differ`` and so on."""

        def __init__(self, what: str, key: Hashable) -> None:
            super().__init__()
            self.what, self.key = what, key

    def __init__(self, pane: ChecksPane) -> None:
        super().__init__(id="check-rows")
        self._pane = pane

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, tuple)
        state, outcome = self._pane.states[key], self._pane.outcomes.get(key)
        model, check = key
        name = fit(check, min(26, max(width // 3, 14)))
        who = self._pane.letters.get(model, "?")
        if outcome is None or state.running:
            return self._under_way(state, who, name, tones)
        verdict = str(outcome.verdict)
        glyph, _ = VERDICTS[verdict]
        tone = tones.verdict(verdict)
        return [
            (f" {glyph} {verdict:<9} ", tone),
            (f"{who} ", tones.by_name["primary"]),
            (f"{name} ", tones.text),
            (self._pane.hide(outcome.summary), tones.muted),
        ]

    def _under_way(self, state: CheckState, who: str, name: str, tones: Tones) -> Sequence[Span]:
        if not state.running:
            return [
                (f" · {'waiting' if self._pane.active else 'not run':<9} ", tones.faint),
                (f"{who} ", tones.faint),
                (f"{name} ", tones.faint),
                (self._pane.hide(state.establishes), tones.faint),
            ]
        share = f"{state.fraction:.0%} " if state.fraction is not None else ""
        return [
            (f" {self._pane.spinner} running   ", tones.by_name["accent"]),
            (f"{who} ", tones.by_name["primary"]),
            (f"{name} ", tones.text),
            (share + self._pane.hide(state.note), tones.muted),
        ]

    def draw_below(self, line: int, width: int, tones: Tones) -> Sequence[Span]:
        failure = self._pane.hide(self._pane.failure)
        if len(failure) + _HEAD < width:
            # the title has room for it
            return ()
        lines = wrapped(failure, max(width - 2, 10))
        return [(f" {lines[line]}", tones.by_name["error"])] if line < len(lines) else ()

    def action_jump(self) -> None:
        self.post_message(self.Asked("jump", self.key))

    def action_rerun(self) -> None:
        self.post_message(self.Asked("rerun", self.key))

    def action_rerun_all(self) -> None:
        self.post_message(self.Asked("rerun_all", self.key))

    def action_cancel(self) -> None:
        self.post_message(self.Asked("cancel", self.key))

    def action_backend(self) -> None:
        self.post_message(self.Asked("backend", self.key))

    def action_differ(self) -> None:
        self.post_message(self.Asked("differ", self.key))

    def action_adapter(self) -> None:
        self.post_message(self.Asked("adapter", self.key))

    def action_auto(self) -> None:
        self.post_message(self.Asked("auto", self.key))

    def action_filter(self) -> None:
        self._pane.next_filter()

    def action_filter_verdict(self) -> None:
        self._pane.next_verdict()


class ChecksPane(Hollow, Vertical):
    """Title with the tally, and the list.

    Args:
        models: Whose checks, in the order of the screen.
        outcomes: What was found so far, by model and check; kept elsewhere.
        hide: A text as it may be shown.
    """

    DEFAULT_CSS = (
        "ChecksPane { height: 10; background: $surface; } ChecksPane Bar.-title { background: $panel; }"
    )

    def __init__(
        self, models: Sequence[str], outcomes: Mapping[Key, Outcome], hide: Callable[[str], str] = str
    ) -> None:
        super().__init__(id="checks")
        self.outcomes, self.hide = outcomes, hide
        self.letters = {model: "ABCDEFGH"[n] for n, model in enumerate(models)}
        self.states: dict[Key, CheckState] = {}
        self.rows = CheckRows(self)
        self.title_bar = Bar(classes="-title")
        self.spinner = " "
        self.failure = ""
        self.active = False
        self.backends: tuple[str, ...] = ()
        self.backend = ""
        self._filter = ""
        self._verdict: Verdict | None = None
        self._turn = 0

    def compose(self) -> ComposeResult:
        yield self.title_bar
        yield self.rows

    def on_mount(self) -> None:
        self.relist()

    @property
    def seed(self) -> int | None:
        """Of the inputs that the verdicts in view are about, one for all; ``None`` without any."""
        return next((outcome.seed for outcome in self.outcomes.values()), None)

    def take(self, event: Event) -> None:
        """Take an event of the engine in; :meth:`relist` shows it."""
        if isinstance(event, Planned):
            self.backends, self.backend = event.backends, event.backend
            for planned in event.checks:
                state = self.states.setdefault((planned.model, planned.check), CheckState())
                state.title, state.establishes = planned.title, planned.establishes
        elif isinstance(event, Started):
            state = self.states.setdefault((event.model, event.check), CheckState())
            state.running, state.note, state.fraction = True, "", None
        elif isinstance(event, Progress):
            state = self.states.setdefault((event.model, event.check), CheckState())
            state.running, state.note, state.fraction = True, event.note, event.fraction
        elif isinstance(event, Finished):
            self.finish([(event.outcome.model, event.outcome.check)])
        elif isinstance(event, Failed):
            self.failure = f"{event.message} {event.hint}".strip()
            self.failure += f" ({key_for(self.rows, 'rerun_all')} runs them again)"
            self.stop()
        elif isinstance(event, Ready | Done):
            self.failure = ""

    def finish(self, keys: Iterable[Key]) -> None:
        """These have an outcome now, a stored one or a fresh one."""
        for key in keys:
            self.states.setdefault(key, CheckState()).running = False

    def stop(self) -> None:
        """Nothing runs any more."""
        for state in self.states.values():
            state.running = False

    def forget(self, model: str = "") -> None:
        """None runs any more, or none of a submission: backend or files are others."""
        self.failure = ""
        for state in (s for key, s in self.states.items() if model in ("", key[0])):
            state.running = False

    def spin(self) -> None:
        """Turn the spinner one step."""
        self._turn += 1
        self.spinner = _SPINNER[self._turn % len(_SPINNER)]
        self.retitle()
        self.rows.redraw({key for key, state in self.states.items() if state.running})

    def next_filter(self) -> None:
        """Show the checks of one submission only, then of the next, then of all."""
        choices = ["", *self.letters]
        self._filter = choices[(choices.index(self._filter) + 1) % len(choices)]
        self.relist()

    def next_verdict(self) -> None:
        """Show the checks of one verdict only, the worst that there is, then of the next, then of all."""
        found = {outcome.verdict for outcome in self.outcomes.values()}
        choices = [None, *(verdict for verdict in _WORTH if verdict in found)]
        at = choices.index(self._verdict) if self._verdict in choices else 0
        self._verdict = choices[(at + 1) % len(choices)]
        self.relist()

    def _rank(self, key: Key) -> float:
        """Order in the list: faults and findings, then what is under way, then what is well."""
        outcome, running = self.outcomes.get(key), self.states[key].running
        if outcome is None or running:
            return 4.4 if running else 4.6
        return float(SEVERITY[outcome.verdict])

    def _listed(self, key: Key) -> bool:
        outcome = self.outcomes.get(key)
        found = outcome.verdict if outcome is not None else None
        return self._filter in ("", key[0]) and self._verdict in (None, found)

    def relist(self) -> None:
        """Sort and show."""
        order = list(self.letters)
        keys = [key for key in self.states if self._listed(key)]
        # within a severity by check, so that the same check of two submissions stands together
        keys.sort(key=lambda key: (self._rank(key), key[1], order.index(key[0]) if key[0] in order else 9))
        self.rows.show(keys)
        self.retitle()

    def retitle(self) -> None:
        """Refresh the tally."""
        focused = self.rows.has_focus
        settled = (
            o for key, o in self.outcomes.items() if key in self.states and not self.states[key].running
        )
        found = Counter(outcome.verdict for outcome in settled)
        tally: list[Part] = [
            (f"{VERDICTS[v][0]} {found[v]} {v}   ", VERDICTS[v][1], 1) for v in _WORTH if found[v]
        ]
        running = sum(state.running for state in self.states.values())
        done, total, listed = sum(found.values()), len(self.states), len(self.rows.keys)
        told = f"{listed} of {total} checks " if listed < total else f"{total} checks "
        progress = f"{self.spinner} {done}/{total} " if self.active else told
        chosen = [self.letters.get(self._filter, ""), str(self._verdict or "")]
        only = f"only {' '.join(filter(None, chosen))} · " if any(chosen) else ""
        right: list[Part] = [
            (f"seed {self.seed} · " if self.seed is not None else "", "muted", 4),
            (only, "accent", 1),
            (f"{running} running " if running else "", "accent", 3),
            (progress if total or self.active else "", "muted", 2),
        ]
        head: list[Part] = [(f"{' Checks':<{_HEAD}}", "strong" if focused else "muted", 0)]
        if self.failure:
            tally = [(f"{self.hide(self.failure)} ", "error", 0)]
        self.title_bar.tell([*head, *tally], right)

    def on_descendant_focus(self) -> None:
        self.retitle()

    def on_descendant_blur(self) -> None:
        self.retitle()
