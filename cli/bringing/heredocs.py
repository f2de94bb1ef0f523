"""Files that a script of a shell writes by ``cat > a.py <<'EOF'``, as answers of agents do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from judge_tui.cli.bringing.member_names import said

__all__ = ["heredocs"]

_FILE = r"""(?P<{0}>>{{1,2}})[ \t]*["']?(?P<{1}>[^\s"'<>|&;]+)["']?"""
_END = r"""<<(?P<{0}>-?)[ \t]*["'\\]?(?P<{1}>\w+)["']?"""
_HEAD = re.compile(
    rf"[ \t]*(?:\$ )?cat[ \t]+(?:{_FILE.format('how', 'file')}[ \t]*{_END.format('tabs', 'end')}"
    rf"|{_END.format('tabs2', 'end2')}[ \t]*{_FILE.format('how2', 'file2')})[ \t]*"
)
_LONGEST = 1_000
_VARIABLE = frozenset("$`~*{}")


def heredocs(lines: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Name and lines of each file that is written, and whether they are put behind what is there.

    Args:
        lines: Of the script.
    """
    at = 0
    while at < len(lines):
        match = _HEAD.fullmatch(lines[at][:_LONGEST])
        at += 1
        if match is None:
            continue
        end, tabs = match["end"] or match["end2"], bool(match["tabs"] or match["tabs2"])
        inside: list[str] = []
        while at < len(lines) and (text := lines[at].lstrip("\t") if tabs else lines[at]) != end:
            inside.append(text)
            at += 1
        name = said(match["file"] or match["file2"])
        if name and not _VARIABLE & set(name):
            yield name, tuple(inside), (match["how"] or match["how2"]) == ">>"
