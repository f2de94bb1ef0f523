"""``judge-tui serve`` in a real browser without a window: what a judge sees, types and saves there."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace

from .chromium import PROGRAMS, Chromium, Tab, program
from .conftest import ENGINE, make_workspace
from .hostile_names import TALKING, make_hostile, names_in, told_by
from .served import Served, until

pytest.importorskip("textual_serve", reason="the extra 'serve' is not installed")
pytestmark = [
    pytest.mark.xdist_group("serving"),
    pytest.mark.skipif(program() is None, reason=f"no browser is installed: none of {', '.join(PROGRAMS)}"),
]

COMPARED = ("compare", "alpha", "beta", "--task", "kv")
LINK = "https://evil.example/who-judges-me"
#: Colours that the terminal has drawn: text and background of many cells, not an empty surface.
_COLOURS = """
(() => {
  const layer = document.querySelector("canvas.xterm-text-layer");
  if (!layer) return document.querySelectorAll(".xterm-rows span").length;
  const data = layer.getContext("2d").getImageData(0, 0, layer.width, layer.height).data;
  return new Set(new Uint32Array(data.buffer)).size;
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    started = Chromium(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    found = make_workspace(tmp_path_factory.mktemp("browsed") / "ws")
    for model in ("alpha", "beta"):
        path = found.submissions / model / "kv" / "kv_cache.py"
        path.write_text(f"# {LINK}\n" + path.read_text())
    return found


@pytest.fixture(scope="module")
def server(workspace: Workspace) -> Iterator[Served]:
    started = Served(workspace.root, ENGINE, "--token", "given by the judge", *COMPARED)
    yield started
    started.close()


def score(workspace: Workspace, model: str = "alpha", dimension: str = "correctness") -> int | None:
    path = workspace.scorecard_path("kv", model, "anna")
    if not path.exists():
        return None
    found = tomllib.loads(path.read_text()).get("dimensions", {}).get(dimension, {}).get("score")
    assert found is None or isinstance(found, int)
    return found


def place_of(tab: Tab, text: str) -> tuple[float, float]:
    """The middle of a text on the screen, in pixels."""
    row, line = next((row, line) for row, line in enumerate(tab.text().split("\n")) if text in line)
    cell = tab.value(
        "(({x, y, width, height}) => "
        "({x, y, width: width / keptTerminal.cols, height: height / keptTerminal.rows}))"
        "(document.querySelector('.xterm-screen').getBoundingClientRect())"
    )
    column = line.index(text) + len(text) / 2
    return cell["x"] + column * cell["width"], cell["y"] + (row + 0.5) * cell["height"]


def test_a_judge_reads_code_scores_it_and_finds_the_score_on_the_screen_and_on_disk(
    browser: Chromium, server: Served, workspace: Workspace
) -> None:
    tab = browser.open(server.url)
    tab.see("class Cache", "def update", "rel err 0.032", "Correctness")
    tab.until(lambda: tab.value(_COLOURS) > 10)
    # nothing was clicked: the page has the keys from the start
    tab.type("s8")
    tab.type("6")
    tab.see("86")
    tab.until(lambda: score(workspace) == 86)
    tab.press("Enter", "\r")
    tab.see("saved as you type")
    tab.type("sound: é, 漢, <b>&amp;")
    tab.until(lambda: "sound: é, 漢, <b>&amp;" in workspace.scorecard_path("kv", "alpha", "anna").read_text())
    tab.press("Escape")
    tab.until(lambda: "saved as you type" not in tab.text())

    # the terminal offers the links in the code; a click on one opens nothing
    tab.value("window.asked = 0; const own = window.open; window.open = (...a) => (asked++, own(...a)); 0")
    before = len(browser.ask("Target.getTargets")["targetInfos"])
    x, y = place_of(tab, LINK)

    def asks() -> bool:
        # a row that is drawn anew while the mouse is over it loses its link until the mouse moves again
        tab.move(x, y + 40)
        tab.move(x, y)
        tab.until(lambda: tab.value("document.querySelector('.xterm-cursor-pointer') !== null"))
        tab.click(x, y)
        return bool(tab.value("asked"))

    tab.until(asks)
    assert len(browser.ask("Target.getTargets")["targetInfos"]) == before

    assert tab.value("document.title") == "judge-tui"
    assert tab.value("location.pathname + location.search + location.hash") == "/"
    own = f"127.0.0.1:{server.port}/"
    assert {url.partition("//")[2][: len(own)] for url in tab.asked_for() if not url.startswith("data:")} == {
        own
    }
    # a window that is made smaller shows all of the app
    tab.resize(800, 480)
    tab.until(lambda: tab.value("keptTerminal.cols") == 100)
    tab.see("Correctness")

    tab.press("Escape")
    tab.type("q")
    tab.until(lambda: tab.value("getComputedStyle(document.querySelector('.ended')).display") == "flex")
    assert not server.family()
    tab.value("document.getElementById('again').click()")
    until(lambda: bool(server.family()))
    tab.see("class Cache")
    tab.close()
    until(lambda: not server.family())


#: Keeps what the page sends to the app.
SENT = """(() => {
  window.sent = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (frame) { sent.push(frame); return send.call(this, frame); };
})()"""


def test_a_phone_shows_columns_enough_to_read_and_has_keys_of_its_own(
    browser: Chromium, workspace: Workspace
) -> None:
    server = Served(workspace.root, ENGINE, "--read-only")
    try:
        tab = browser.open(server.url, (390, 780))
        tab.see("Alpha", "Next to judge", "read only")
        assert tab.value("document.querySelector('.banner').textContent").startswith("Read only")
        assert tab.value("keptTerminal.cols") >= 60
        # nothing sticks out, and the keys are there to be hit
        assert tab.value("document.documentElement.scrollWidth") <= 390
        assert tab.value("document.querySelector('.keys').getBoundingClientRect().bottom") <= 780
        tab.value("document.querySelector('[data-key=ArrowDown]').click()")
        tab.see("Beta ›")
        tab.value("document.querySelector('[data-key=Enter]').click()")
        tab.see("class Cache")
        tab.value(SENT)
        tab.value("document.querySelector('[data-key=q]').click()")
        tab.see("Next to judge")
        # a second one would end the app
        assert tab.value('sent.filter((frame) => frame === \'["stdin","q"]\').length') == 1
        tab.close()
    finally:
        server.close()


def test_two_tabs_on_one_scorecard_are_as_safe_as_two_windows(
    browser: Chromium, server: Served, workspace: Workspace
) -> None:
    first, second = browser.open(server.url), browser.open(server.url)
    for tab in (first, second):
        tab.see("rel err 0.032", "Correctness")
    assert len(server.family()) >= 2
    # a dimension that no other test scores: over a score that stands, digits would wait
    first.type("st71")
    first.until(lambda: score(workspace, dimension="tests") == 71)
    second.type("st52")
    # typed before it has read what the first saved, it is a conflict; after, it waits to be confirmed
    conflict, asked = "NOT SAVED, changed by another window", "71 → 52"
    second.until(lambda: conflict in second.text() or asked in second.text())
    assert score(workspace, dimension="tests") == 71
    if conflict in second.text():
        second.type("!")
        second.see("window")
    second.press("Escape")
    second.close()
    first.close()
    until(lambda: not server.family())
    assert score(workspace, dimension="tests") == 71


def test_blind_no_byte_that_reaches_the_browser_tells_a_name(browser: Chromium, tmp_path: Path) -> None:
    hostile = make_hostile(tmp_path / "ws")
    server = Served(hostile.root, TALKING, "compare", "glm5", "qwen36", "--task", "kv", "--blind")
    try:
        tab = browser.open(server.url)
        tab.see("beats", "class", "▒▒▒")
        tab.type("s90")
        tab.see("90")
        streamed = tab.streamed()
        shown = [tab.value("document.title"), tab.value("location.href"), tab.text()]
        page = tab.value("document.documentElement.outerHTML")
        tab.close()
        until(lambda: not server.family())
    finally:
        server.close()
    assert "beats" in told_by(streamed)
    assert names_in("\n".join([*shown, page, told_by(streamed)])) == []
