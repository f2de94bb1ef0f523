"""Plots in documents: SVG in a page; in Markdown files, block characters, or a table of their figures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from judge_tui.judging.plain import plain
from judge_tui.judging.storage import read_bytes, write_atomically
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import PLOTS, Bars, Curves, Intervals, Matrix, Plot, Report
from judge_tui.reports.drawings.blocks import bar_lines, interval_lines
from judge_tui.reports.drawings.pictures import picture_file, picture_in_page
from judge_tui.reports.drawings.scales import short
from judge_tui.reports.drawings.words import described

__all__ = ["addresses", "drawn", "in_letters", "pictures_of", "refresh"]

#: Rows of a table of figures at most.
_ROWS = 16
_Text = Callable[[str], str]


def drawn(plot: Plot) -> Markup:
    """A plot as an element of a page."""
    return Markup(picture_in_page(plot))


def pictures_of(report: Report, stem: str) -> dict[str, tuple[str, str]]:
    """The plots of a report as files: anchor → name and text.

    Args:
        report: It.
        stem: Of the document's name, which theirs begin with, so that several documents can share a folder.
    """
    plots = [part for part in report.parts if isinstance(part, PLOTS)]
    names = {plot.anchor: anchor_of(stem, plot.anchor.removeprefix("plot-")) for plot in plots}
    return {plot.anchor: (f"{names[plot.anchor]}.svg", picture_file(plot)) for plot in plots}


def refresh(folder: Path, pictures: Mapping[str, tuple[str, str]], *, write: bool) -> list[Path]:
    """Write the files of plots that are not as they should be.

    Args:
        folder: Where they stand; it is made where something is written.
        pictures: As :func:`pictures_of` gives them.
        write: Whether to write; else they are only looked at.

    Returns:
        Those that were missing or said something else.

    Raises:
        WorkspaceError: One cannot be read or written.
    """
    stale = []
    for name, text in pictures.values():
        path, data = folder / name, text.encode()
        if read_bytes(path) != data:
            stale.append(path)
            if write:
                write_atomically(path, data)
    return stale


def addresses(folder: Path, document: Path, pictures: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Anchor → address of each picture, as the document refers to it.

    Args:
        folder: Where the pictures stand.
        document: The file that shows them.
        pictures: As :func:`pictures_of` gives them.
    """
    way = os.path.relpath(folder, document.parent)
    return {anchor: quote((Path(way) / name).as_posix(), safe="/") for anchor, (name, _) in pictures.items()}


def in_letters(plot: Plot, text: _Text, pictures: Mapping[str, str]) -> str:
    """A plot as Markdown; nothing where it would only say what the table before it says.

    Args:
        plot: It.
        text: What makes a text mean itself.
        pictures: Anchor → address of a picture, which stands there instead.
    """
    if plot.anchor in pictures:
        alt = text(f"{plot.title}. {described(plot)}")
        return f"![{alt}]({pictures[plot.anchor]})" + _below(plot, text)
    if isinstance(plot, Matrix):
        return ""
    if isinstance(plot, Curves):
        return f"**{text(plot.title)}**\n\n{_table(plot, text)}" + _below(plot, text)
    lines = bar_lines(plot) if isinstance(plot, Bars) else interval_lines(plot)
    return f"{text(plot.title)}; {text(_axis(plot))}:\n\n{_fenced(lines)}" + _below(plot, text)


def _axis(plot: Bars | Intervals) -> str:
    said = plot.axis.said
    return f"{said[0].lower()}{said[1:]}"


def _below(plot: Plot, text: _Text) -> str:
    return f"\n\n{text(plot.caption)}" if plot.caption else ""


def _fenced(lines: Iterable[str]) -> str:
    made = "\n".join(map(plain, lines))
    longest = max((len(run) for run in re.findall("`+", made)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{made}\n{fence}"


def _table(plot: Curves, text: _Text) -> str:
    """The figures of curves; of many points so many that they can be read, first and last among them."""
    by_trace = [dict(trace.points) for trace in plot.traces]
    every = sorted({x for points in by_trace for x in points})
    chosen = every
    if len(every) > _ROWS:
        chosen = [every[round(at * (len(every) - 1) / (_ROWS - 1))] for at in range(_ROWS)]
    rows = [[short(x), *(_figure(points, x) for points in by_trace)] for x in chosen]
    head = [text(plot.x.said), *(text(trace.name) for trace in plot.traces)]
    lines = [head, ["---:"] * len(head), *rows]
    told = f"{plot.y.said} over {plot.x.said}" + (
        f"; {len(chosen)} of {len(every)} points." if len(chosen) < len(every) else "."
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{text(told)}"


def _figure(points: Mapping[float, float | None], x: float) -> str:
    if x not in points:
        return "–"
    value = points[x]
    return "not finite" if value is None else short(value)
