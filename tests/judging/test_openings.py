"""What lines out of the middle of a text or a comment stand in."""

from __future__ import annotations

import pytest

from judge_tui.judging.summaries.openings import opening_at, over_lines

PYTHON = ['r"""Title.', "", "with words", '"""', "x = 'one line'", "y = '''", "z", "'''", "w = ("]
CUDA = ["/* one line */", "int x; /* several", " * for all", " */", "int y;", "/* never closed", "for"]


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("k.py", PYTHON, ["", 'r"""', 'r"""', 'r"""', "", "", "'''", "'''", ""]),
        ("k.cu", CUDA, ["", "", "/*", "/*", "", "", "/*"]),
        ("k.md", ["/*", "x"], ["", ""]),
        ("k.py", ['"""never closed', "x", "\x00"], ["", "", ""]),
        ("k.py", ["if x:", "  y", " z", '"""', "w", '"""'], [""] * 6),
        ("k.py", [], []),
    ],
)
def test_it_is_told_for_every_line(name: str, lines: list[str], told: list[str]) -> None:
    over = over_lines(name, lines)
    assert [opening_at(over, line) for line in range(1, len(lines) + 1)] == told
