"""Titles are measured as they are shown."""

from __future__ import annotations

from judge_tui.tui.widgets.bar import Bar, packed


def test_a_hostile_name_is_made_harmless_before_it_is_measured() -> None:
    bar = Bar()
    bar.tell([("e\x1b[31mvil\u202ez ", "text", 0)])
    assert packed(bar._left, 80) == [("e␛[31mvil⟦U+202E⟧z ", "text")]


def test_a_separator_leads_to_something() -> None:
    parts = [("kv ", "strong", 0), ("sandbox full · ", "success", 1), ("saved 12:00:00 ", "muted", 4)]
    assert packed(parts, 80)[1:] == [("sandbox full · ", "success"), ("saved 12:00:00 ", "muted")]
    assert packed(parts, 20)[1:] == [("sandbox full ", "success")]
