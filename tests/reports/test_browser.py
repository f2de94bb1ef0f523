"""A page from disk, in a real browser: it asks for nothing, leads to its lines, and everybody can read it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from judge_tui.judging.summaries.parts import Report
from judge_tui.reports.rendering import html
from tests.reports.judged import LINE, SHAPES
from tests.tui.chromium import PROGRAMS, Chromium, Tab, program

pytestmark = [
    pytest.mark.xdist_group("serving"),
    pytest.mark.skipif(program() is None, reason=f"no browser is installed: none of {', '.join(PROGRAMS)}"),
]

#: The package of which the one file is taken, and never its code.
AXE = "axe_core_python"
#: Pixels across and down; paper is A4 less its margins.
PHONE, DESKTOP, PAPER = (390, 800), (1280, 900), (700, 1000)
#: The dark scheme is another one in its colours alone.
_RULES = {
    "light": "{resultTypes: ['violations'], preload: false}",
    "dark": "{runOnly: ['color-contrast'], preload: false}",
}
_FINDINGS = """
axe.run(document, %s).then(told => told.violations.map(
  one => `${one.impact}: ${one.id}: ${one.help}: ${one.nodes[0].html}`))
"""
_IN_VIEW = """
(() => {
  const box = document.querySelector(%r).getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
})()
"""
#: Elements that stand out of the page, but for those in a box that scrolls.
_OUTSIDE = """
[...document.querySelectorAll("main *")].filter(
  one => !one.closest(".scroll, .code") && one.getBoundingClientRect().right > innerWidth + 1
).map(one => one.outerHTML.slice(0, 99))
"""

#: Whether the letters of plots are large enough to be read.
_LETTERS = """
[...document.querySelectorAll("svg text")].every(one => one.getBoundingClientRect().height >= 11)
"""

#: Names of rows that leave the page when their table is scrolled, or whose letters stand below each other.
_LOST = """
[...document.querySelectorAll(".scroll")].flatMap(box => {
  box.scrollLeft = box.scrollWidth;
  const left = box.getBoundingClientRect().left;
  return [...box.querySelectorAll("tr > :first-child")].filter(one => {
    const at = one.getBoundingClientRect();
    return Math.abs(at.left - left) > 1 || (one.textContent.trim().length > 3 && at.width < 56);
  });
}).map(one => one.textContent)
"""


def _open(browser: Chromium, report: Report, folder: Path, size: tuple[int, int]) -> tuple[Tab, str]:
    path = folder / "report.html"
    path.write_text(html(report))
    tab = browser.open(path.as_uri(), size)
    tab.ask("Log.enable")
    tab.until(lambda: tab.value("document.readyState") == "complete")
    return tab, path.as_uri()


def _complaints(tab: Tab) -> list[dict[str, Any]]:
    """What the console has to say."""
    tab.value("0")
    return tab._events("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")


def _follow(tab: Tab, link: str) -> str:
    """Click on the first link that leads there from a cell or a note; where the page then stands."""
    tab.value(f'document.querySelector(\'main td a[href="#{link}"], main li a[href="#{link}"]\').click()')
    return str(tab.value("location.hash"))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_asks_for_nothing_but_itself_and_fits(
    browser: Chromium, judged: dict[str, Report], tmp_path: Path, shape: str
) -> None:
    tab, address = _open(browser, judged[shape], tmp_path, PHONE)
    assert tab.value("document.title") == judged[shape].title
    assert tab.value(_LETTERS)
    for size in (PHONE, DESKTOP):
        tab.resize(*size)
        assert tab.value("innerWidth") == size[0]
        assert tab.value("document.documentElement.scrollWidth") <= size[0]
        assert tab.value(_OUTSIDE) == []
    assert tab.asked_for() == [address]
    assert _complaints(tab) == []
    tab.close()


PUBLISHED = sorted((Path(__file__).parents[2] / "docs" / "reports").glob("*.html"))


@pytest.mark.parametrize("path", PUBLISHED, ids=[path.stem for path in PUBLISHED])
def test_names_of_rows_stay_on_a_phone_when_a_table_is_scrolled(browser: Chromium, path: Path) -> None:
    tab = browser.open(path.as_uri(), PHONE)
    tab.until(lambda: tab.value("document.readyState") == "complete")
    assert tab.value(_LOST) == []
    tab.close()


@pytest.mark.parametrize("path", PUBLISHED, ids=[path.stem for path in PUBLISHED])
def test_paper_has_every_column(browser: Chromium, path: Path) -> None:
    tab = browser.open(path.as_uri(), PAPER)
    tab.ask("Emulation.setEmulatedMedia", media="print")
    tab.until(lambda: tab.value("document.readyState") == "complete")
    assert tab.value("document.documentElement.scrollWidth") <= PAPER[0]
    assert tab.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    tab.close()


@pytest.mark.parametrize("shape", ["two-way", "head-to-head", "round"])
def test_a_cell_leads_to_its_notes_and_those_to_their_line(
    browser: Chromium, judged: dict[str, Report], tmp_path: Path, shape: str
) -> None:
    tab, _ = _open(browser, judged[shape], tmp_path, PHONE)
    assert _follow(tab, "kv-qwen36") == "#kv-qwen36"
    assert tab.value(_IN_VIEW % ":target")
    assert _follow(tab, "code-kv-qwen36-kv_cache.py-5-5") == "#code-kv-qwen36-kv_cache.py-5-5"
    assert tab.value(_IN_VIEW % ":target .hll")
    assert tab.value("document.querySelector(':target .hll').textContent").rstrip().endswith(LINE)
    tab.close()


def test_a_verdict_leads_to_its_figure_and_that_to_its_line(
    browser: Chromium, judged: dict[str, Report], tmp_path: Path
) -> None:
    tab, _ = _open(browser, judged["metrics"], tmp_path, PHONE)
    assert _follow(tab, "figures-kv-growth") == "#figures-kv-growth"
    assert tab.value(_IN_VIEW % ":target")
    assert _follow(tab, "code-kv-qwen36-kv_cache.py-5") == "#code-kv-qwen36-kv_cache.py-5"
    assert tab.value(_IN_VIEW % ":target .hll")
    assert tab.value("document.querySelector(':target .hll').textContent").rstrip().endswith(LINE)
    tab.close()


@pytest.mark.skipif(find_spec(AXE) is None, reason=f"{AXE}, which brings axe.min.js, is not installed")
@pytest.mark.parametrize("shape", SHAPES)
def test_axe_finds_nothing_in_light_or_dark(
    browser: Chromium, judged: dict[str, Report], tmp_path: Path, shape: str
) -> None:
    found = find_spec(AXE)
    assert found is not None
    assert found.submodule_search_locations is not None
    axe = Path(found.submodule_search_locations[0]) / "axe.min.js"
    tab, _ = _open(browser, judged[shape], tmp_path, PHONE)
    tab.value(f"{axe.read_text(encoding='utf-8')};0")
    for scheme, rules in _RULES.items():
        tab.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        assert tab.value("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
        assert tab.value(_FINDINGS % rules) == []
    tab.close()
