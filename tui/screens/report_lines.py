"""A report as lines of a screen: tables that fit, notes, code, and where each line leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct
from rich.cells import cell_len
from rich.style import Style

from judge_tui.checks.verdict import Curve
from judge_tui.judging.attempt_figures import STALE
from judge_tui.judging.matchup import TIE
from judge_tui.judging.summaries.parts import (
    Bars,
    Cell,
    Code,
    Criteria,
    Curves,
    Heading,
    Intervals,
    Matrix,
    Notes,
    Part,
    Prose,
    Report,
    Table,
)
from judge_tui.reports.drawings.blocks import bar_lines, interval_lines
from judge_tui.tui.look.fitting import fit, wrapped
from judge_tui.tui.look.plots import plot
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.widgets.rows import Span

__all__ = ["ReportLine", "report_lines"]

#: Cells between columns; longer words are broken.
_GAP, _NARROWEST = 2, 12
#: A line of prose is not longer, however wide the screen is.
_READABLE = 100
#: What leads somewhere.
_LINK = Style(underline=True)
_TITLES = {
    "strength": ("+", "success", "Strengths"),
    "weakness": ("−", "warning", "Weaknesses"),
    "bug": ("✗", "error", "Bugs"),
    "question": ("?", "primary", "Questions"),
    "critical": ("✗", "error", "Critical weaknesses"),
}


class ReportLine(Struct, frozen=True):
    """A line.

    Attributes:
        spans: What stands in it.
        anchor: What leads to it; empty for most.
        leads: Anchors that it leads to, the first one on enter.
        heading: Level of the heading that it is; 0 for none.
        place: Title of the model, file and line that it shows.
    """

    spans: tuple[Span, ...] = ()
    anchor: str = ""
    leads: tuple[str, ...] = ()
    heading: int = 0
    place: tuple[str, str, int] | None = None


def report_lines(report: Report, width: int, tones: Tones) -> list[ReportLine]:
    """A report as lines.

    Args:
        report: It.
        width: Cells of the screen.
        tones: Its colours.
    """
    room = max(width - 2, 20)
    lines = list(_titled(report, room, tones))
    for part in report.parts:
        if isinstance(part, Matrix):
            continue
        if lines and not lines[-1].heading:
            lines.append(ReportLine())
        lines += _of_part(part, room, tones)
    if report.faults:
        lines += [ReportLine(), ReportLine(((" Left out", tones.strong),), heading=2)]
        for fault in report.faults:
            lines += _said(fault, room, tones.by_name["warning"])
    return lines


def _titled(report: Report, room: int, tones: Tones) -> Iterator[ReportLine]:
    """The title of a report, and whose words are in it."""
    for line in _said(report.title, room, tones.strong):
        yield ReportLine(line.spans, heading=1)
    whose = [f"Judge{'s' * (len(report.judges) > 1)}: {', '.join(report.judges)}."] if report.judges else []
    newest = [f"Newest scorecard: {report.newest}."] if report.newest else []
    if whose or newest:
        yield from _said(" ".join((*whose, *newest)), room, tones.muted)


def _of_part(part: Part, room: int, tones: Tones) -> Iterator[ReportLine]:
    if isinstance(part, Heading):
        style = tones.strong + Style(underline=part.level == 2)
        yield ReportLine(((" ", tones.text), (part.text, style)), part.anchor, heading=part.level)
    elif isinstance(part, Prose):
        yield from _said(part.text + (f"  – {part.judge}" if part.judge else ""), room, tones.text)
    elif isinstance(part, Table):
        yield from _table(part, room, tones)
    elif isinstance(part, Criteria):
        yield from _criteria(part, room, tones)
    elif isinstance(part, Notes):
        yield from _notes(part, room, tones)
    elif isinstance(part, Code):
        yield from _code(part, tones)
    elif isinstance(part, Bars | Intervals | Curves):
        yield from _plot(part, room, tones)


def _plot(part: Bars | Intervals | Curves, room: int, tones: Tones) -> Iterator[ReportLine]:
    """A plot in block characters; curves one below the other. A matrix stands in a table already."""
    yield ReportLine(((" ", tones.text), (part.title, tones.muted)), part.anchor)
    if isinstance(part, Curves):
        drawn = _curves(part, room)
    else:
        drawn = bar_lines(part) if isinstance(part, Bars) else interval_lines(part)
    for text in drawn:
        yield ReportLine(((f"   {text}", tones.by_name["primary"]),))
    if part.caption:
        yield from _said(part.caption, room, tones.muted)


def _curves(part: Curves, room: int) -> Iterator[str]:
    for trace in part.traces:
        yield trace.name
        curve = Curve(part.x.said, part.y.said, trace.points, part.x.log, part.y.log)
        yield from plot(curve, min(max(room - 24, 20), 80))


def _said(text: str, room: int, style: Style, *, before: str = " ") -> Iterator[ReportLine]:
    indent = " " * cell_len(before)
    for number, line in enumerate(wrapped(" ".join(text.split()), min(room, _READABLE) - len(indent))):
        yield ReportLine((((indent if number else before), style), (line, style)))


def _table(table: Table, room: int, tones: Tones) -> Iterator[ReportLine]:
    cells = [tuple(Cell(title) for title in table.head), *table.rows]
    least = [_least(column, n in table.numbers) for n, column in enumerate(zip(*cells, strict=True))]
    for number, chosen in enumerate(_blocks(least, table.numbers, room)):
        if number:
            yield ReportLine()
        rows = [[row[n] for n in chosen] for row in cells]
        right = frozenset(at for at, n in enumerate(chosen) if n in table.numbers)
        wide = _columns([[cell.text for cell in row] for row in rows], [least[n] for n in chosen], room)
        for at, row in enumerate(rows):
            plain = tones.text if at else tones.faint
            titles = [
                Cell(_parted(c.text) if cell_len(c.text) > w else c.text)
                for c, w in zip(row, wide, strict=True)
            ]
            yield from _row(row if at else titles, wide, right, plain, tones.by_name["success"])
    if table.caption:
        yield from _said(table.caption, room, tones.muted)


def _least(column: Sequence[Cell], figures: bool) -> int:
    """The narrowest that a column may be: figures stay whole, and so do short words of their titles."""
    wide = [cell_len(cell.text) for cell in column]
    if not figures:
        longest = max(cell_len(word) for cell in column for word in cell.text.split(" "))
        return min(longest, _NARROWEST)
    words = max(map(cell_len, _parted(column[0].text).split(" ")))
    return max(*wide[1:], min(words, _NARROWEST), 1)


def _parted(title: str) -> str:
    """A title that may be broken behind what joins its words."""
    return title.replace("_", "_ ")


def _blocks(least: Sequence[int], numbers: frozenset[int], room: int) -> list[list[int]]:
    """Columns side by side: where not all fit, what names the rows stands before each part of the others."""
    names = list(range(next((n for n in range(len(least)) if n not in numbers and least[n] > 3), 0) + 1))
    blocks: list[list[int]] = [list(names)]
    for n in range(len(names), len(least)):
        taken = sum(least[c] + _GAP for c in blocks[-1])
        if taken + least[n] > room and len(blocks[-1]) > len(names):
            blocks.append(list(names))
        blocks[-1].append(n)
    return blocks


def _columns(rows: Sequence[Sequence[str]], least: Sequence[int], room: int) -> list[int]:
    """Widths of columns that fit: the widest that may gives way."""
    wide = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    while sum(wide) + _GAP * (len(wide) - 1) > room:
        broad = [n for n in range(len(wide)) if wide[n] > least[n]]
        if not broad:
            break
        wide[max(broad, key=wide.__getitem__)] -= 1
    return wide


def _row(
    row: Sequence[Cell], wide: Sequence[int], right: frozenset[int], plain: Style, ahead: Style
) -> Iterator[ReportLine]:
    """The lines of a row: words are broken over as many as they need."""
    leads = tuple(dict.fromkeys(cell.anchor for cell in row if cell.anchor))
    own = next((cell.own for cell in row if cell.own), "")
    broken = [wrapped(cell.text, width) for cell, width in zip(row, wide, strict=True)]
    for line in zip_longest(*broken, fillvalue=""):
        spans: list[Span] = [(" ", plain)]
        for n, (text, cell) in enumerate(zip(line, row, strict=True)):
            # what names a row is ahead of nothing
            strong = Style(bold=True) + (ahead if n else Style()) if cell.strong else Style()
            gap, style = " " * (_GAP if n else 0), plain + strong
            if not cell.anchor:
                spans.append((gap + fit(text, wide[n], right=n in right), style))
                continue
            shown = fit(text, wide[n], right=n in right)
            before = shown[: len(shown) - len(shown.lstrip())]
            behind = shown[len(before) + len(shown.strip()) :]
            spans += [(gap + before, style), (shown.strip(), style + _LINK), (behind, style)]
        yield ReportLine(tuple(spans), own, leads)
        own = ""


def _criteria(part: Criteria, room: int, tones: Tones) -> Iterator[ReportLine]:
    if part.lines:
        head = ("Criterion", *part.models, "Edge")
        rows = tuple(
            (
                Cell(line.name),
                *(
                    Cell(text, strong=line.edge == title)
                    for title, text in zip(part.models, line.cells, strict=True)
                ),
                Cell(f"{line.edge}{f' ({line.note})' if line.note else ''}"),
            )
            for line in part.lines
        )
        tally = ", ".join(f"{name} {count}" for name, count in part.edges.items())
        told = any(line.edge for line in part.lines)
        caption = f"{tally} of {len(part.lines)} criteria." if told else ""
        yield from _table(Table(head, rows, caption=caption), room, tones)
    if part.winner:
        who = "A tie" if part.winner == TIE else f"Winner: {part.winner}"
        by = (f" by {part.margin}" if part.margin else "") + (f" {STALE}" if part.stale else "")
        why = f" – {part.differentiator}" if part.differentiator else ""
        said = part.judge or (f"by {part.source}" if part.source else "")
        style = tones.by_name["success"] + Style(bold=True)
        yield from _said(f"{who}{by}{why}{f'  – {said}' if said else ''}", room, style)


def _notes(part: Notes, room: int, tones: Tones) -> Iterator[ReportLine]:
    glyph, tone, title = _TITLES[part.kind]
    yield ReportLine(((f" {title}", tones.by_name[tone] + Style(bold=True)),))
    for bullet in part.bullets:
        weight = bullet.severity if bullet.kind != "strength" and bullet.severity != "minor" else ""
        aside = ", ".join(filter(None, (weight, bullet.where, bullet.judge)))
        leads = (bullet.anchor,) if bullet.anchor else ()
        style = tones.text + (_LINK if leads else Style())
        for line in _said(bullet.text + (f" ({aside})" if aside else ""), room, style, before=f"  {glyph} "):
            yield ReportLine(line.spans, leads=leads)


def _code(part: Code, tones: Tones) -> Iterator[ReportLine]:
    title = f" {part.title}  {part.file}, from line {part.first}"
    yield ReportLine(((title, tones.muted),), part.anchor, place=_first_marked(part))
    for number, text in enumerate(part.lines, part.first):
        marked = number in part.marked
        spans = (
            (f" {number:5d} {'»' if marked else ' '} ", tones.by_name["warning"] if marked else tones.faint),
            (text.expandtabs(4), tones.strong if marked else tones.text),
        )
        yield ReportLine(spans, place=(part.title, part.file, number))


def _first_marked(part: Code) -> tuple[str, str, int]:
    """Where code begins to be what is meant."""
    return part.title, part.file, min(part.marked, default=part.first)
