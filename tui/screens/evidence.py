"""What a check measured: the sentence, which stays in view, figures beside limits, curves, tables, output."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import takewhile
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding

from judge_tui.checks.hosts import host
from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.tui.engine.replay import prompt_command, replay_command
from judge_tui.tui.keys.bound_keys import key_for, keys_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.figures import amount
from judge_tui.tui.look.fitting import fit, fit_middle, wrapped
from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.look.plots import plot
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["EvidenceScreen"]

Line = tuple[tuple[Span, ...], "tuple[str, int] | None"]
_MOST_LINES = 5_000
#: Cells between columns, and of a column at least.
_GAP, _NARROWEST = 2, 10
#: Cells of a file and its line at most.
_PLACE = 40
_FAILING = " ✗ "
#: What stands before a line that goes on with the figure above it.
_ON = " " * 5
#: Lines above the figure that failed, where it is far from the first one.
_ABOVE = 2
#: Of a screen's rows the sentence stays above the others where it takes no more than this part of them.
_STAYS = 3


class _Lines(Rows):
    lines: Sequence[Line] = ()

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        return self.lines[key][0] if isinstance(key, int) else ()


class _Sentence(_Lines, can_focus=False):
    """What the check says, which stays where it is while what it measured is scrolled."""

    DEFAULT_CSS = "_Sentence { height: auto; }"
    shows_cursor = False

    def say(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.styles.height = len(lines)
        self.show(range(len(lines)))


class EvidenceScreen(Sheet["tuple[str, int] | None"]):
    """Gives the location to jump to, or ``None``.

    Args:
        outcome: What to show.
        who: The submission's letter and name.
        title: The check's title.
        establishes: What it establishes.
        hide: Covers what may not be shown in the name of a file.
        where: Options of the replaying command that say where the submissions are.
        adapt: Has the judge write how the submission is called.
    """

    BINDINGS: ClassVar = [
        Binding("escape,q", "close", "back"),
        Binding("o", "jump", "jump to line"),
        Binding("v", "plot", "curve in full"),
        Binding("y", "copy_replay", "copy the command that replays it"),
        Binding("e", "adapter", "say how it is called"),
    ]

    BINDINGS = named("evidence", BINDINGS)
    title_of_keys = "Evidence"
    rows: _Lines

    def __init__(
        self,
        outcome: Outcome,
        who: str,
        title: str = "",
        establishes: str = "",
        hide: Callable[[str], str] = str,
        where: Sequence[str] = (),
        adapt: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._hide, self._where, self._adapt = hide, where, adapt
        self._outcome, self._who, self._title, self._establishes = outcome, who, title, establishes
        self.rows = _Lines()
        self._sentence = _Sentence()
        self._begin = 0

    def compose(self) -> ComposeResult:
        bar, *rest = super().compose()
        yield bar
        yield self._sentence
        yield from rest

    def on_mount(self) -> None:
        outcome = self._outcome
        glyph, tone = VERDICTS[str(outcome.verdict)]
        self.query_one(Bar).tell(
            [
                (f" {glyph} {outcome.verdict} ", tone, 0),
                (f"{outcome.check} ", "strong", 0),
                (f"{self._who} ", "primary", 1),
            ],
            [
                (f"{outcome.seconds:.2f} s · ", "muted", 3),
                (f"seed {outcome.seed} · ", "muted", 2),
                (f"{outcome.backend} {outcome.device} {_elsewhere(outcome)}", "muted", 2),
                (f"· sandbox {outcome.sandbox} " if outcome.sandbox else "", "muted", 3),
            ],
        )
        unbound = outcome.verdict is Verdict.UNBOUND and self._adapt is not None
        self.hint(
            (
                (key_for(self, "close"), "back"),
                (key_for(self, "adapter") if unbound else "", "say how it is called"),
                (key_for(self.rows, "open"), "to this row's line"),
                (key_for(self, "jump"), "to the finding"),
                (key_for(self, "plot") if self._curves else "", "curve in full"),
                (key_for(self, "copy_replay"), "copy the replaying command"),
                (keys_for(self.rows, "move(1)", "move(-1)"), "move"),
            )
        )
        self._fill()
        self.rows.focus()

    def on_resize(self) -> None:
        self._fill()

    def _fill(self) -> None:
        begun = self.rows.cursor == self._begin
        width = max(self.size.width - 1, 20)
        tones = tones_of(self.app)
        said = sentence_lines(self._outcome, self._title, self._establishes, width, tones)
        stays = len(said) * _STAYS <= self.size.height
        self._sentence.say(said if stays else ())
        shown = evidence_lines(self._outcome, width, tones, self._hide)
        self.rows.lines = [*(() if stays else said), *shown][:_MOST_LINES]
        self.rows.show(range(len(self.rows.lines)))
        if begun:
            # what decided is in view, however many figures stand before it
            failing = (n for n, (spans, _) in enumerate(self.rows.lines) if spans and spans[0][0] == _FAILING)
            self._begin = self.rows.cursor = next(failing, 0)
            self.call_after_refresh(self._show_begin)

    def _show_begin(self) -> None:
        if self.rows.cursor != self._begin:
            return
        begin, rows = self._begin, max(self.rows.scrollable_content_region.height, 1)
        said = takewhile(lambda line: _goes_on(line[0]), self.rows.lines[begin + 1 :])
        whole = 1 + sum(1 for _ in said)
        # from the first figure on, where what failed is in view with all that is said of it
        top = 0 if begin + whole <= rows else begin - min(_ABOVE, max(rows - whole, 0))
        self.rows.scroll_to(y=top, animate=False, force=True)
        self.rows.go(begin)

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        place = self.rows.lines[event.key][1] if isinstance(event.key, int) else None
        if place is not None:
            self.dismiss(place)
            return
        found = f"; {key_for(self, 'jump')} goes to the finding" if self._outcome.location else ""
        self.notify(f"this row names no line{found}", markup=False, timeout=2)

    def action_jump(self) -> None:
        self.dismiss(self._outcome.location)

    @property
    def _curves(self) -> list[Evidence]:
        return [item for item in self._outcome.evidence if item.curve is not None]

    def action_plot(self) -> None:
        """Show the curve at the cursor, or the first one behind it, as large as the terminal."""
        if not self._curves:
            self.notify("no curve was measured here", markup=False, timeout=2)
            return
        from judge_tui.tui.screens.plot import PlotScreen

        heads = [item.quantity for item in self._curves]
        titles = [row for row in self.rows.lines[self.rows.cursor :] if len(row[0]) == 2]
        said = (spans[1][0] for spans, _ in titles)
        at = next((heads.index(text) for text in said if text in heads), 0)
        curve = self._curves[at].curve
        assert curve is not None
        self.app.push_screen(PlotScreen(curve, f"{self._hide(self._curves[at].quantity)} · {self._who}"))

    def action_adapter(self) -> None:
        if self._adapt is not None:
            self.dismiss(None)
            self._adapt()

    def action_copy_replay(self) -> None:
        self.app.copy_to_clipboard(replay_command(self._outcome, self._where))
        self.notify("the command that replays this is copied", markup=False, timeout=2)


def _elsewhere(outcome: Outcome) -> str:
    """The machine that found it, where that is another one."""
    return f"on {outcome.host} " if outcome.host not in ("", host()) else ""


def _told(
    text: str, style: Style, width: int, indent: int = 1, place: tuple[str, int] | None = None
) -> list[Line]:
    """A text broken into lines."""
    parts = wrapped(text, max(width - indent - 1, 10))
    return [(((" " * indent, style), (part, style)), place) for part in parts]


def sentence_lines(outcome: Outcome, title: str, establishes: str, width: int, tones: Tones) -> list[Line]:
    """What an outcome says, and of what, with an empty line below."""
    lines = _told(outcome.summary, tones.verdict(str(outcome.verdict)) + Style(bold=True), width)
    if title or establishes:
        lines += _told(" — ".join(part for part in (title, establishes) if part), tones.muted, width)
    return [*lines, ((), None)]


def evidence_lines(
    outcome: Outcome, width: int, tones: Tones, hide: Callable[[str], str] = str
) -> list[Line]:
    """What an outcome rests on, as lines: the figures, then curves, tables and output."""
    lines: list[Line] = []
    lines += _figures(outcome.evidence, width, tones, hide)
    for item in outcome.evidence:
        place = (item.file, item.line) if item.file and item.line else None
        if not (item.curve or item.table or item.output):
            continue
        lines.append(((), None))
        lines += _told(item.quantity, tones.strong, width, place=place)
        if item.curve is not None:
            lines += [
                (((f"   {text}", tones.by_name["primary"]),), place)
                for text in plot(item.curve, min(max(width - 24, 20), 80))
            ]
        lines += _table(item.table, width, tones)
        for text in item.output.split("\n") if item.output else ():
            lines.append(((("   │ ", tones.faint), (text.rstrip("\r")[: width * 4], tones.muted)), place))
    lines.append(((), None))
    if outcome.verdict is Verdict.UNBOUND:
        lines += _told(f"What an adapter is written from: {prompt_command(outcome)}", tones.faint, width)
    return lines + _told(f"Replay: {replay_command(outcome)}", tones.faint, width)


def _goes_on(spans: Sequence[Span]) -> bool:
    """Whether a line goes on with the figure above it."""
    return bool(spans) and spans[0][0].startswith(_ON)


def _figures(
    evidence: Sequence[Evidence], width: int, tones: Tones, hide: Callable[[str], str]
) -> list[Line]:
    if not evidence:
        return [((("   no figures", tones.faint),), None)]
    places = max((len(f"{item.file}:{item.line}") for item in evidence if item.file and item.line), default=0)
    cells = [
        (hide(item.quantity), amount(item.measured, item.unit), amount(item.limit, item.unit))
        for item in evidence
    ]
    head = ("quantity", "measured", "limit")
    wide = _columns([head, *cells], width - 3 - 2 * _GAP - (min(places, _PLACE) + _GAP if places else 0))
    gap = " " * _GAP
    titles = (
        fit(text, columns, right=n > 0) for n, (text, columns) in enumerate(zip(head, wide, strict=True))
    )
    lines: list[Line] = [(((f"   {gap.join(titles)}", tones.faint),), None)]
    for item, (quantity, measured, limit) in zip(evidence, cells, strict=True):
        place = (item.file, item.line) if item.file and item.line else None
        mark, tone = {True: ("✓", "success"), False: ("✗", "error"), None: ("·", "muted")}[item.ok]
        lines.append(
            (
                (
                    (f" {mark} ", tones.by_name[tone]),
                    (fit(quantity, wide[0]), tones.text),
                    (
                        gap + fit(measured, wide[1], right=True),
                        tones.by_name[tone] if item.ok is False else tones.text,
                    ),
                    (gap + fit(limit, wide[2], right=True), tones.muted),
                    (_placed(item, min(places, _PLACE), hide) if place else "", tones.by_name["primary"]),
                ),
                place,
            )
        )
        if any(
            cell_len(text) > columns for text, columns in zip((quantity, measured, limit), wide, strict=True)
        ):
            # nothing is told by its beginning alone
            figures = f": {measured}" + (f", limit {limit}" if limit else "")
            whole = quantity + (
                figures if max(cell_len(measured) - wide[1], cell_len(limit) - wide[2]) > 0 else ""
            )
            lines += [(((f"{_ON}{part}", tones.text),), place) for part in wrapped(whole, max(width - 6, 10))]
        for part in wrapped(item.note, max(width - 6, 10)) if item.note else ():
            lines.append((((f"{_ON}{part}", tones.muted),), place))
    return lines


def _placed(item: Evidence, room: int, hide: Callable[[str], str]) -> str:
    """Where a figure points, its line kept whole."""
    return " " * _GAP + fit_middle(f"{hide(item.file or '')}:{item.line}", room)


def _columns(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths of columns that fit into a room: what is widest gives way."""
    wide = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    while sum(wide) > room and max(wide) > _NARROWEST:
        wide[wide.index(max(wide))] -= 1
    return wide


def _table(table: Sequence[Sequence[str]], width: int, tones: Tones) -> list[Line]:
    if not table:
        return []
    columns = max(map(len, table))
    wide = [max((len(row[n]) for row in table if n < len(row)), default=0) + 2 for n in range(columns)]
    room = max(width - 4, 8)
    lines: list[Line] = []
    for number, row in enumerate(table):
        text = "".join(fit(cell, min(wide[n], room)) for n, cell in enumerate(row))
        lines.append((((f"   {text}", tones.faint if not number else tones.text),), None))
    return lines
