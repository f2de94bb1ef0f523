"""What the file of a fence is called: said in its info string, on its first lines, or just above it.

Source: what chat answers write, as ``python title="a.py"``, ``python:src/a.py``, ``# file: a.py``,
``**`a.py`**``, ``### 2. a.py``, ``Save this as a.py:``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge_tui.cli.bringing.fences import Fence
from judge_tui.cli.bringing.languages import fits
from judge_tui.cli.bringing.member_names import said

__all__ = ["Above", "language_of", "named_above", "named_inside"]

_SUFFIX = (
    "py|pyi|pyx|cuh|cu|cpp|cxx|cc|c|hpp|hh|hxx|h|rs|go|java|kt|scala|swift|cs|js|mjs|ts|jsx|tsx|rb|php|lua|"
    "jl|r|R|hs|ml|zig|metal|cl|f90|sql|sh|bash|ps1|bat|md|rst|txt|log|json|jsonl|yaml|yml|toml|ini|cfg|conf|html|xml|css|"
    "csv|cmake|mk|in"
)
_PATH = rf"(?:[\w.+-]+/)*[\w.+-]*\w\.(?:{_SUFFIX})|(?:[\w.+-]+/)*(?:Makefile|Dockerfile|CMakeLists\.txt)"
_FOUND = re.compile(rf"(?<![\w./+-])(?:{_PATH})(?![\w/+-]|\.\w)")
_ATTRIBUTE = re.compile(r"""\b(?:title|file_?name|file|name|path|src)\s*[=:]\s*["'{]?([^"'}\s]+)""", re.I)
_WHOLE = re.compile(rf"{_PATH}")
_LABEL = r"(?:file_?name|file|path|module|location)"
#: A comment on one of the first lines that is the name of the file, or begins with it.
_COMMENT = re.compile(
    rf"""[ \t]*(?:\#+|//+|/\*+|--|<!--|;+|%+|"{{3}}|'{{3}})[ \t=*~-]*(?:{_LABEL}[ \t]*[:=][ \t]*)?"""
    rf"""[`"']?({_PATH})[`"']?[ \t]*(?:$|[-–—:(=*~,]|\*/|-->|"{{3}}|'{{3}})""",
    re.I,
)
_TAG = re.compile(r"<[^<>]{0,80}>")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]")
_BEFORE = re.compile(rf"[\W\d_]*(?:(?:{_LABEL}|step|part|full|new)\b[\W\d_]*)*", re.I)
_BEHIND = re.compile(r"[\s`*_\"')\]]*(?:$|[:(–—-])")
#: Behind the last word of a line, in any language, that introduces what follows.
_ENDS = re.compile(r"\W*[:：]\W*")
_MAKING = re.compile(
    r"\b(?:create|creating|save|saved|write|put|place|called|named|here(?:'s|’s| is| are)|updated?|"
    r"complete|full|final|contents? of|new file|implementation|code for|source)\b",
    re.I,
)
_LONGEST_LINE = 300
_FIRST_LINES = 3


class Above:
    """What stands between one fence and the next, as far as it may name the next one.

    Args:
        lines: The lines of the text.
        start: Index of the first line behind the fence before.
        end: Index of the fence's first line.
    """

    def __init__(self, lines: Sequence[str], start: int, end: int) -> None:
        text = [line for line in lines[max(start, end - 40) : end] if line.strip()]
        self.nearest = text[-1] if text else ""
        self.heading = next((line for line in reversed(text) if _is_title(line)), "")


def _is_title(line: str) -> bool:
    text = line.strip(" \t>:")
    return bool(_HEADING.match(line)) or (text[:1] in "*_`" and text[-1:] in "*_`")


def language_of(info: str) -> str:
    """The language that an info string says; empty where it says none."""
    word = re.split(r"[\s:{,]", info.strip().lstrip("{.").strip(), maxsplit=1)[0].strip("}").lower()
    return "" if "." in word or "/" in word or "=" in word else word


def named_inside(fence: Fence) -> str:
    """The name that the fence itself says; empty where it says none."""
    for found in (*_of_info(fence.info), *_of_first_lines(fence)):
        if name := said(found):
            return name
    return ""


def _of_info(info: str) -> Sequence[str]:
    info = info[:_LONGEST_LINE]
    attributes = [match[1] for match in _ATTRIBUTE.finditer(info)]
    words = re.split(r"[\s:{}()\[\]]+", info)
    return [name for name in (*attributes, *words) if _WHOLE.fullmatch(name.strip("`\"'"))]


def _of_first_lines(fence: Fence) -> Sequence[str]:
    first = [line for line in fence.lines[: 2 * _FIRST_LINES] if line.strip()][:_FIRST_LINES]
    matches = (_COMMENT.match(line) for line in first if len(line) < _LONGEST_LINE)
    return [match[1] for match in matches if match]


def named_above(above: Above, language: str) -> str:
    """The name that stands just above a fence; empty where none does, or several do.

    Args:
        above: What stands there.
        language: The fence's: one of a shell is no Python file that the line above it speaks of.
    """
    for line in (above.nearest, above.heading):
        text = _TAG.sub(" ", line[:_LONGEST_LINE])
        names = list(dict.fromkeys(_FOUND.findall(text)))
        if len(names) != 1 or not _names_it(line, text, names[0]):
            continue
        if fits(language, names[0]) and (name := said(names[0])):
            return name
    return ""


def _names_it(line: str, text: str, name: str) -> bool:
    before, _, behind = text.partition(name)
    leads = _BEFORE.fullmatch(before) and _BEHIND.match(behind)
    return (
        bool(leads or _ENDS.fullmatch(behind))
        or _is_title(line)
        or bool(_MAKING.search(f"{before} {behind}"))
    )
