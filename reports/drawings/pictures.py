"""Plots as SVG: in a page, coloured by its variables, and as files on paper of their own."""

from __future__ import annotations

import re
from html import escape

from judge_tui.judging.plain import plain
from judge_tui.judging.summaries.parts import Bars, Curves, Intervals, Plot
from judge_tui.reports.drawings.bars import draw_bars
from judge_tui.reports.drawings.canvas import WIDTH, Canvas, number, wrapped
from judge_tui.reports.drawings.curves import draw_curves
from judge_tui.reports.drawings.intervals import draw_intervals
from judge_tui.reports.drawings.matrix import draw_matrix
from judge_tui.reports.drawings.words import described

__all__ = ["COLOURS", "page_style", "picture_file", "picture_in_page"]

#: How marks look; a page gives the variables their colours.
_STYLE = """\
.plot text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.plot .group, .plot .figure { font-weight: 600; }
.plot .axis { fill: var(--soft); }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .zero { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 3; }
.plot .frame { fill: none; stroke: var(--soft); }
.plot .whisker { stroke: var(--ink); stroke-width: 1.5; }
.plot .curve { fill: none; stroke-width: 2; stroke: var(--series); }
.plot .series { fill: var(--series); }
.plot .empty { fill: none; stroke: var(--line); }
"""
#: Variable → colours on light and on dark paper: each at least three times as light or dark as the paper.
COLOURS = {
    "s1": ("#0550ae", "#79b8ff"),
    "s2": ("#b35900", "#ffab70"),
    "s3": ("#1a7f37", "#56d364"),
    "s4": ("#8250df", "#d2a8ff"),
    "s5": ("#bf3989", "#ff9bce"),
    "s6": ("#1b7c83", "#56d4dd"),
}
_PAPER = {"ink": "#1b1f24", "soft": "#57606a", "line": "#d0d7de", "paper": "#ffffff"}
#: Pixels around a drawing in a file.
_MARGIN = 12
_TITLE = 18


def page_style() -> str:
    """The style of plots in a page, for light screens and paper, and for dark screens.

    The page has the variables ``--ink``, ``--soft`` and ``--line``.
    """
    light, dark = (" ".join(f"--{name}: {each[at]};" for name, each in COLOURS.items()) for at in (0, 1))
    series = "\n".join(f".plot .{name} {{ --series: var(--{name}); }}" for name in COLOURS)
    return (
        f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"{_STYLE}{series}\n"
    )


def picture_in_page(plot: Plot) -> str:
    """A plot as an element of a page that has :func:`page_style` and the variables of its paper.

    Args:
        plot: It.
    """
    canvas = Canvas()
    height = _drawn(canvas, plot)
    name = f"{plot.anchor}-title {plot.anchor}-desc"
    return (
        f'<svg viewBox="0 0 {WIDTH} {number(height)}" role="img" aria-labelledby="{name}">\n'
        f'<title id="{plot.anchor}-title">{escape(plain(plot.title))}</title>\n'
        f'<desc id="{plot.anchor}-desc">{escape(plain(described(plot)))}</desc>\n'
        f"{_lines(canvas)}\n</svg>"
    )


def picture_file(plot: Plot) -> str:
    """A plot as a file: white paper of its own, so that it can be read on white and on dark.

    Args:
        plot: It.
    """
    head, body = Canvas(), Canvas()
    top = 0.0
    for line in wrapped(plot.title, WIDTH):
        top += _TITLE
        head.text(0, top - 6, line, "group")
    top += 6
    width, height = WIDTH + 2 * _MARGIN, top + _drawn(body, plot) + 2 * _MARGIN
    box = f'width="{width}" height="{number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" {box} '
        f'viewBox="0 0 {width} {number(height)}">\n'
        f"<title>{escape(plain(plot.title))}</title>\n<desc>{escape(plain(described(plot)))}</desc>\n"
        f"<style>\n{_style_of_files()}</style>\n"
        f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{number(height - 1)}" rx="6"/>\n'
        f'<g transform="translate({_MARGIN} {_MARGIN})">\n{_lines(head)}\n'
        f'<g transform="translate(0 {number(top)})">\n{_lines(body)}\n</g>\n</g>\n</svg>\n'
    )


def _lines(canvas: Canvas) -> str:
    return "\n".join(canvas.marks)


def _drawn(canvas: Canvas, plot: Plot) -> float:
    if isinstance(plot, Bars):
        return draw_bars(canvas, plot)
    if isinstance(plot, Intervals):
        return draw_intervals(canvas, plot)
    return draw_curves(canvas, plot) if isinstance(plot, Curves) else draw_matrix(canvas, plot)


def _style_of_files() -> str:
    """The style with colours in it: not everything that shows SVG knows variables."""
    own = f"{_STYLE}.plot .paper {{ fill: var(--paper); stroke: var(--line); }}\n"
    told = re.sub(r"var\(--(\w+)\)", lambda found: _PAPER.get(found[1], found[0]), own)
    lines = [line for line in told.splitlines() if "--series" not in line]
    lines.append(".plot .curve { fill: none; stroke-width: 2; }")
    for name, (light, _) in COLOURS.items():
        lines += [f".plot .series.{name} {{ fill: {light}; }}", f".plot .curve.{name} {{ stroke: {light}; }}"]
    return "\n".join(lines) + "\n"
