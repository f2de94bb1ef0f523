"""Outcomes as JUnit XML, the form that CI systems read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as Xml

from judge_tui.checks.verdict import Evidence, Outcome, Report, Verdict

__all__ = ["junit_xml"]

#: What XML 1.0 cannot carry, in whatever spelling.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {
    Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIP: "skipped", Verdict.UNBOUND: "skipped",
}  # fmt: skip


def junit_xml(report: Report) -> str:
    """The report as a JUnit document.

    ``fail`` is a failure, ``error`` an error, ``skip`` and ``unbound`` are skipped; ``warn``
    and ``ambiguous`` pass and say so in their output.

    Args:
        report: Outcomes sorted by task and model.
    """
    suites = Xml.Element("testsuites", name=report.tool)
    for (task, model), group in groupby(report.outcomes, key=lambda outcome: (outcome.task, outcome.model)):
        _suite(suites, f"{task}.{model}", list(group), report)
    Xml.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suites, encoding="unicode")


def _suite(parent: Xml.Element, name: str, outcomes: Sequence[Outcome], report: Report) -> None:
    elements = [_ELEMENTS.get(outcome.verdict) for outcome in outcomes]
    suite = Xml.SubElement(
        parent, "testsuite", name=_clean(name), tests=str(len(outcomes)),
        failures=str(elements.count("failure")), errors=str(elements.count("error")),
        skipped=str(elements.count("skipped")), time=f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    )  # fmt: skip
    properties = Xml.SubElement(suite, "properties")
    for key in ("backend", "device", "sandbox", "seed"):
        Xml.SubElement(properties, "property", name=key, value=_clean(str(getattr(report, key))))
    if report.ended:
        Xml.SubElement(properties, "property", name="ended", value=_clean(report.ended))
    for outcome in outcomes:
        _case(suite, name, outcome)


def _case(suite: Xml.Element, classname: str, outcome: Outcome) -> None:
    case = Xml.SubElement(
        suite,
        "testcase",
        classname=_clean(classname),
        name=_clean(outcome.check),
        time=f"{outcome.seconds:.3f}",
    )
    element = _ELEMENTS.get(outcome.verdict)
    detail = "\n".join(_told(item) for item in outcome.evidence)
    if element is not None:
        child = Xml.SubElement(case, element, message=_clean(f"{outcome.verdict}: {outcome.summary}"))
        child.text = _clean(detail) or None
    else:
        Xml.SubElement(case, "system-out").text = _clean(f"{outcome.verdict}: {outcome.summary}\n{detail}")


def _told(item: Evidence) -> str:
    text = item.quantity
    if item.measured is not None:
        text += f" = {item.measured}{' ' + item.unit if item.unit else ''}"
    if item.limit is not None:
        text += f" (limit {item.limit})"
    if item.file:
        text += f" [{item.file}{f':{item.line}' if item.line else ''}]"
    return "\n".join(part for part in (text, item.note, item.output) if part)


def _clean(text: str) -> str:
    return _NOT_XML.sub("�", text)
