"""Reports as documents: a text means itself, a page needs nothing, and templates stay in their box."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.summaries.parts import (
    Bullet,
    Cell,
    Code,
    Criteria,
    Heading,
    Line,
    Notes,
    Prose,
    Report,
    Table,
)
from judge_tui.reports import apart
from judge_tui.reports.data import as_json
from judge_tui.reports.highlighting import highlighted
from judge_tui.reports.rendering import html, markdown
from tests.reports.pages import Page

NASTY = '<script>alert(1)</script> a|b `c` *d* [e](http://f) \\ "g" & \x1b[31mred\n# h'
REPORT = Report(
    "head-to-head",
    "A vs B",
    {"a": "A", "b": "B"},
    {"kv": "KV cache"},
    ("anna", "ben"),
    "2026-03-01",
    (
        Heading("KV cache", 2, "kv"),
        Prose("Two caches.", "anna"),
        Table(
            ("Dimension", "A", "B"),
            ((Cell("Tests"), Cell("80", "kv-a", strong=True), Cell("")),),
            frozenset({1, 2}),
            "Of 100.",
        ),
        Criteria(("A", "B"), (Line("Tests", ("8", "0"), "A", "by far"),), "A", 3, "It has tests.", "anna"),
        Heading("A", 3, "kv-a"),
        Notes("A", "bug", (Bullet(NASTY, "bug", "critical", "a.py:2", "anna", "code-kv-a-2-2"),)),
        Code("A", "a.py", 1, ("def f(x):", "    return x < 1", ""), frozenset({2}), "code-kv-a-2-2"),
    ),
    ("scores/kv/b/ben.toml:2: no string.",),
)


def test_markdown_says_all_of_it() -> None:
    text = markdown(REPORT)
    assert text.startswith("# A vs B\n\nJudges: anna, ben. Newest scorecard: 2026-03-01.\n\n## KV cache\n")
    assert "| Dimension | A | B |\n| :--- | ---: | ---: |\n| Tests | **80** | – |\n" in text
    assert (
        "| Criterion | A | B | Edge |\n| :--- | :--- | :--- | :--- |\n| Tests | 8 | 0 | A (by far) |\n"
        in text
    )
    assert "A 1, B 0, tie 0 of 1 criteria." in text
    assert "**Winner: A** by 3 – It has tests. *(anna)*" in text
    assert "    2»     return x < 1" in text
    assert "## Left out\n\n- scores/kv/b/ben.toml:2: no string.\n" in text
    assert not re.search(r"\n\n\n", text)


def test_a_text_means_itself_in_markdown() -> None:
    line = next(line for line in markdown(REPORT).splitlines() if "alert" in line)
    assert line.startswith(
        "- &lt;script&gt;alert(1)&lt;/script&gt; a\\|b \\`c\\` \\*d\\* \\[e\\](http://f) \\\\"
    )
    assert "\x1b" not in line
    assert line.endswith("\\# h (critical, a.py:2, anna)")


def test_a_text_means_itself_in_html_and_nothing_is_asked_for() -> None:
    text = html(REPORT)
    page = Page(text)
    assert "\x1b" not in text
    assert [tag for tag, _ in page.tags if tag in ("script", "link", "img", "iframe")] == []
    assert not re.search(r"url\(|@import|https?://(?!f\))", text)
    assert any("<script>alert(1)</script>" in told for told in page.texts)


def test_every_link_of_a_page_leads_somewhere_in_it() -> None:
    page = Page(html(REPORT))
    assert len(page.anchors) == len(set(page.anchors))
    assert {link.removeprefix("#") for link in page.links} <= set(page.anchors)
    assert "#code-kv-a-2-2" in page.links


def test_data_holds_every_part() -> None:
    made = json.loads(as_json(REPORT))
    assert made["schema"] == 1
    assert [part["part"] for part in made["parts"]] == [
        "heading", "prose", "table", "criteria", "heading", "notes", "code",
    ]  # fmt: skip
    assert made["parts"][3]["edges"] == {"A": 1, "B": 0, "tie": 0}
    assert made["parts"][6]["marked"] == [2]


def test_a_workspaces_own_template_stands_in(tmp_path: Path) -> None:
    (tmp_path / "report.md.j2").write_text("{% for part in report.parts %}{{ kind_of(part) }} {% endfor %}")
    assert markdown(REPORT, tmp_path) == "heading prose table criteria heading notes code\n"
    assert html(REPORT, tmp_path) == html(REPORT)


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("one\n{% for part in %}\n", 2),
        ("one\ntwo\n{{ report.nothing.at_all }}\n", 3),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}\n", 1),
        ("\n{{ report.__init__.__globals__['os'].system('true') }}\n", 2),
        ("\n{% include '/etc/passwd' %}\n", 2),
        ("\n\n{{ 1 // 0 }}\n", 3),
    ],
    ids=["syntax", "missing", "classes", "globals", "file", "arithmetic"],
)
def test_a_template_that_cannot_be_rendered_is_told_with_its_line(
    tmp_path: Path, template: str, line: int
) -> None:
    (tmp_path / "report.html.j2").write_text(template)
    with pytest.raises(WorkspaceError) as told:
        html(REPORT, tmp_path)
    assert told.value.file == str(tmp_path / "report.html.j2")
    assert told.value.line == line


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ ('x' * 99999999) * 99999 }}",
    ],
    ids=["time", "memory"],
)
def test_a_template_without_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    monkeypatch.setattr(apart, "SECONDS", 2)
    (tmp_path / "report.html.j2").write_text(template)
    with pytest.raises(
        WorkspaceError, match=r"does not come to an end|cannot be rendered: MemoryError"
    ) as told:
        html(REPORT, tmp_path)
    assert told.value.file == str(tmp_path / "report.html.j2")


def test_no_link_leads_a_template_out_of_its_folder(tmp_path: Path) -> None:
    own = tmp_path / "templates"
    own.mkdir()
    (tmp_path / "secret").write_text("secret")
    (own / "report.md.j2").symlink_to(tmp_path / "secret")
    with pytest.raises(WorkspaceError, match="leads out of its folder"):
        markdown(REPORT, own)
    (own / "report.md.j2").unlink()
    (own / "part").symlink_to(tmp_path / "secret")
    (own / "report.md.j2").write_text("\n{% include 'part' %}")
    with pytest.raises(WorkspaceError, match="'part' leads out of its folder") as told:
        markdown(REPORT, own)
    assert told.value.line == 2


def test_lines_of_a_text_stay_lines(tmp_path: Path) -> None:
    parts = (Prose("One\r\ntwo.\n\nThree."), Notes("A", "bug", (Bullet("a\nb\x1b", "bug"),)))
    report = replace(REPORT, parts=parts)
    assert "One two.\n\nThree.\n" in markdown(report)
    assert "- a b␛\n" in markdown(report)
    assert "<p>One\ntwo.\n\nThree.</p>" in html(report)
    assert "␊" not in html(report) + markdown(report)


@pytest.mark.parametrize(("file", "opening"), [("k.py", '"""'), ("k.cu", "/*")])
def test_lines_out_of_the_middle_of_a_text_are_coloured_as_a_text(file: str, opening: str) -> None:
    code = Code("A", file, 7, ("with all of it", "for a while"), frozenset({8}), "code-a")
    keyword = re.compile('<span class="k[a-z]*">(?:with|for|while)</span>')
    assert keyword.search(str(highlighted(code)))
    within = str(highlighted(replace(code, opening=opening)))
    assert not keyword.search(within)
    assert opening not in within.replace("&quot;", '"')
    assert re.findall('class="linenos"> *([0-9]+)', within) == ["7", "8"]
