"""Rendering a report by a template, which a workspace may replace by its own.

Templates are sandboxed: a workspace may be a stranger's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
)
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.lines import split_lines
from judge_tui.judging.folders import is_inside
from judge_tui.judging.plain import plain
from judge_tui.judging.summaries.parts import PLOTS, Code, Part, Plot, Report
from judge_tui.reports.apart import rendered_apart
from judge_tui.reports.drawings.pictures import page_style
from judge_tui.reports.highlighting import highlighted, style_sheet
from judge_tui.reports.plotting import drawn, in_letters

__all__ = ["TEMPLATES", "by_own_template", "html", "markdown"]

#: Folder of a workspace whose templates stand in for ours.
TEMPLATES = "templates"
_HTML, _MARKDOWN = "report.html.j2", "report.md.j2"
_ESCAPED = "\\|`*_[]#"
_BLANK = re.compile(r"\n\s*\n")


def markdown(report: Report, templates: Path | None = None, pictures: Mapping[str, str] | None = None) -> str:
    """A report as GitHub-flavoured Markdown.

    Args:
        report: It.
        templates: Folder whose ``report.md.j2`` stands in for ours.
        pictures: Anchor of a plot → address of its picture; block characters where there is none.

    Raises:
        WorkspaceError: That template is malformed, asks for what it may not, or does not come to an end.
    """
    own = _own(templates, _MARKDOWN)
    return _markdown(report, pictures or {}) if own is None else rendered_apart(own, report, pictures or {})


def html(report: Report, templates: Path | None = None) -> str:
    """A report as one HTML file without scripts and without requests to anywhere.

    Args:
        report: It.
        templates: Folder whose ``report.html.j2`` stands in for ours.

    Raises:
        WorkspaceError: That template is malformed, asks for what it may not, or does not come to an end.
    """
    own = _own(templates, _HTML)
    return _html(report) if own is None else rendered_apart(own, report, {})


def by_own_template(file: Path, report: Report, pictures: Mapping[str, str]) -> str:
    """A report by a workspace's own template, in this process.

    Args:
        file: The template.
        report: The report.
        pictures: Anchor of a plot → address of its picture.

    Raises:
        WorkspaceError: The template is malformed, or asks for what it may not.
    """
    return _html(report, file.parent) if file.name == _HTML else _markdown(report, pictures, file.parent)


def _own(templates: Path | None, name: str) -> Path | None:
    own = None if templates is None else templates / name
    return own if own is not None and own.is_file() else None


def _markdown(report: Report, pictures: Mapping[str, str], templates: Path | None = None) -> str:
    def plotted(plot: Plot) -> str:
        return in_letters(plot, _text, pictures)

    filters = {"cell": _cell, "text": _text, "paragraphs": _paragraphs, "plotted": plotted}
    made = _rendered(_MARKDOWN, report, templates, filters, escape=False)
    return f"{made.strip()}\n"


def _html(report: Report, templates: Path | None = None) -> str:
    filters = {"text": _shown, "highlighted": highlighted, "drawn": drawn}
    # what is not there needs no style
    has_code = any(isinstance(part, Code) for part in report.parts)
    style = style_sheet() if has_code else Markup("")
    style += Markup(page_style() if any(map(_is_plot, report.parts)) else "")
    return _rendered(_HTML, report, templates, filters, escape=True, style=style)


class _Kept(FileSystemLoader):
    """Templates of a folder, and none that a link leads out of it."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        text, file, same = super().get_source(environment, template)
        if not is_inside(Path(file), Path(self.searchpath[0])):
            raise TemplateError(f"'{template}' leads out of its folder")
        return text, file, same


def _rendered(
    name: str,
    report: Report,
    templates: Path | None,
    filters: Mapping[str, Any],
    *,
    escape: bool,
    **values: str,
) -> str:
    loaders: list[BaseLoader] = [_Kept(templates)] if templates is not None else []
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
        if templates is None:
            raise
        line = getattr(error, "lineno", None) or _line_of(error, name)
        why = str(error).rstrip(".") or type(error).__name__
        if isinstance(error, TemplateNotFound):
            why = f"there is no template '{error.name}'"
        raise WorkspaceError(
            f"the template cannot be rendered: {why}.", file=templates / name, line=line
        ) from error


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


def _shown(text: str) -> str:
    """Text as a reader may see it, its lines kept."""
    return "\n".join(map(plain, split_lines(text)))


def _text(text: str) -> str:
    """Text that means itself in Markdown, on one line."""
    shown = " ".join(_shown(text).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for character in _ESCAPED:
        shown = shown.replace(character, f"\\{character}")
    return shown


def _paragraphs(text: str) -> str:
    """Text that means itself in Markdown, its paragraphs kept."""
    return "\n\n".join(filter(None, map(_text, _BLANK.split(_shown(text)))))


def _cell(text: str) -> str:
    return _text(text) or "–"
