"""Rendering a report by a template, which a workspace may replace by its own.

Templates are sandboxed: a workspace may be a stranger's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.plain import plain
from judge_tui.judging.summaries.parts import PLOTS, Code, Part, Plot, Report
from judge_tui.reports.drawings.pictures import page_style
from judge_tui.reports.highlighting import highlighted, style_sheet
from judge_tui.reports.plotting import drawn, in_letters

__all__ = ["TEMPLATES", "html", "markdown"]

#: Folder of a workspace whose templates stand in for ours.
TEMPLATES = "templates"
_ESCAPED = "\\|`*_[]#"


def markdown(report: Report, templates: Path | None = None, pictures: Mapping[str, str] | None = None) -> str:
    """A report as GitHub-flavoured Markdown.

    Args:
        report: It.
        templates: Folder whose ``report.md.j2`` stands in for ours.
        pictures: Anchor of a plot → address of its picture; block characters where there is none.

    Raises:
        WorkspaceError: That template is malformed, or asks for what it may not.
    """

    def plotted(plot: Plot) -> str:
        return in_letters(plot, _text, pictures or {})

    filters = {"cell": _cell, "text": _text, "plotted": plotted}
    made = _rendered("report.md.j2", report, templates, filters, escape=False)
    return f"{made.strip()}\n"


def html(report: Report, templates: Path | None = None) -> str:
    """A report as one HTML file without scripts and without requests to anywhere.

    Args:
        report: It.
        templates: Folder whose ``report.html.j2`` stands in for ours.

    Raises:
        WorkspaceError: That template is malformed, or asks for what it may not.
    """
    filters = {"text": plain, "highlighted": highlighted, "drawn": drawn}
    # what is not there needs no style
    has_code = any(isinstance(part, Code) for part in report.parts)
    style = style_sheet() if has_code else Markup("")
    style += Markup(page_style() if any(map(_is_plot, report.parts)) else "")
    return _rendered("report.html.j2", report, templates, filters, escape=True, style=style)


def _rendered(
    name: str,
    report: Report,
    templates: Path | None,
    filters: Mapping[str, Any],
    *,
    escape: bool,
    **values: str,
) -> str:
    loaders: list[BaseLoader] = [FileSystemLoader(templates)] if templates is not None else []
    loaders.append(PackageLoader("judge_tui.reports"))
    environment = SandboxedEnvironment(
        loader=ChoiceLoader(loaders), autoescape=escape, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(filters)
    environment.globals |= {"kind_of": _kind_of, "is_plot": _is_plot}
    try:
        return environment.get_template(name).render(report=report, **values)
    except Exception as error:
        file = templates / name if templates is not None and (templates / name).is_file() else None
        if file is None:
            raise
        line = getattr(error, "lineno", None) or _line_of(error, name)
        raise WorkspaceError(
            f"the template cannot be rendered: {str(error).rstrip('.')}.", file=file, line=line,
            hint="Mend it, or take it away: ours stands in its place then.",
        ) from error  # fmt: skip


def _line_of(error: BaseException, name: str) -> int | None:
    """The line of a template in which something was raised."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(name):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _kind_of(part: Part) -> str:
    return type(part).__name__.lower()


def _is_plot(part: Part) -> bool:
    return isinstance(part, PLOTS)


def _text(text: str) -> str:
    """Text that means itself in Markdown, on one line."""
    shown = " ".join(plain(text).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for character in _ESCAPED:
        shown = shown.replace(character, f"\\{character}")
    return shown


def _cell(text: str) -> str:
    return _text(text) or "–"
