"""Tables and figures of plain text: CSV, Markdown, columns between spaces, ``step 3 loss 4.1``."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from judge_tui.checks.tasks.ternary_training.figures import Figure, Name, Number
from judge_tui.checks.tasks.ternary_training.logs.documents import above, loaded_json, of_document
from judge_tui.checks.tasks.ternary_training.logs.tables import (
    NUMBER,
    Row,
    figures_of,
    number_in,
    pivots,
    record,
    unnamed,
)

__all__ = ["of_text"]

#: More heads of tables than this are none.
_MOST_HEADS = 200
_LONGEST_LINE = 2000
_WORDS = ("loss", "nll", "entropy", "ppl", "perplex", "xent")
_QUANTITY = r"(?:loss|nll|cross[_\- ]?entropy|ppl|perplexity)"
_STEPS = r"(?:step|iter|iteration|it|update|epoch|batch)s?"
#: A step between the word and its figure: ``loss[3] = 4.1``, ``loss (step 3): 4.1``, ``loss at step 3: 4.1``,
#: ``loss 3/100 4.1``, ``loss: (3, 4.1)``.
_BETWEEN = (
    rf"\s*(?:at|after|for|in|of|@)?\s*[\[(]?\s*{_STEPS}\s*[#:=]?\s*(?P<told>\d+)(?:\s*/\s*\d+)?\s*[\])]?"
    r"(?:[\s,;]*(?:value|is|was|mean|avg)\b)?"
    r"|\s*\[\s*(?P<subscript>\d+)\s*\]|\s*[:=]?\s*\(\s*(?P<paired>\d+)\s*,"
    r"|\s*@\s*(?P<at>\d+)|\s+#?(?P<bare>\d+)(?:\s*/\s*\d+)?(?=\s*[:=]\s*[-+]?\d|\s+[-+]?\d*\.\d|\s+nan|\s+inf)"
)
_FIGURE = re.compile(
    rf"(?<![a-z_\-/])(?P<word>[a-z_\-/]{{0,24}}?{_QUANTITY})['\"]?"
    rf"(?:{_BETWEEN})?\s*(?:\([a-z _\-]*\))?\s*[:=]?\s*(?P<number>{NUMBER})(?![\w%])",
    re.I,
)
_STEP = re.compile(r"\b(?:step|iter|iteration|it|update)s?\b['\"]?\s*[:=#]?\s*(\d+)", re.I)
_EPOCH = re.compile(r"\bepoch\b['\"]?\s*[:=#]?\s*(\d+)", re.I)
#: A list that is printed under a name.
_LIST = re.compile(
    rf"(?P<name>[^\[({{]{{0,80}}?{_QUANTITY}\w*)['\"]?\s*[:=]\s*(?P<list>[\[(].*[\])])\s*,?\s*", re.I
)
_PYTHON = str.maketrans("()'", '[]"')


def of_text(file: str, lines: Sequence[str]) -> Iterator[Figure]:
    """Losses and perplexities of a file that is no JSON document."""
    found = [*_of_tables(file, lines)]
    if not found:
        found += _of_columns(file, lines)
    yield from found
    rows: list[Row] = []
    others: list[Figure] = []
    for number, line in enumerate(lines, 1):
        value = _inner(line) if "{" in line else None
        if isinstance(value, dict):
            rows.append(Row(record(value), number, (file, number)))
        elif not _cells(line):
            others += _of_line(file, line, number)
    yield from figures_of(file, above(file), rows)
    yield from others


def _inner(line: str) -> object:
    """The record that a line is, or ends with; Python's spelling of it as well."""
    start, end = line.find("{"), line.rfind("}") + 1
    inner = line[start:end]
    if (start and len(line) > _LONGEST_LINE) or line[end:].strip(" ,"):
        return None
    value = loaded_json(inner)
    if value is None and "'" in inner:
        value = loaded_json(inner.replace("'", '"').replace("None", "null").replace("True", "true"))
    return value


def _of_columns(file: str, lines: Sequence[str]) -> Iterator[Figure]:
    """Numbers alone, in a file whose name says that they are losses: one a line, or columns with no head."""
    if not above(file):
        return
    rows: list[list[float]] = []
    places: list[int] = []
    for number, line in enumerate(lines, 1):
        cells = [cell for cell in re.split(r"[\s,;\[\]]+", line) if cell]
        if cells and all(map(_is_number, cells)):
            rows.append([Number(cell) for cell in cells])
            places.append(number)
    if len(rows) > 1 and all(len(row) == 1 for row in rows):
        single = [
            Row({("",): row[0]}, at, (file, at), n)
            for n, (row, at) in enumerate(zip(rows, places, strict=True))
        ]
        yield from figures_of(file, above(file), single)
    elif len(rows) > 1:
        yield from figures_of(file, above(file), unnamed(file, (), rows, places))


def _cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table; empty for any other line."""
    stripped = line.strip()
    if not (stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 1):
        return []
    return [cell.strip(" *`") for cell in stripped[1:-1].split("|")]


def _of_tables(file: str, lines: Sequence[str]) -> Iterator[Figure]:
    """CSV, TSV, Markdown and spaced tables with a head, which or whose file names a loss or a perplexity."""
    head: list[str] = []
    rows: list[Row] = []
    delimiter, heads = "", 0
    for number, line in enumerate(lines, 1):
        if heads > _MOST_HEADS:
            # Prose with commas in it.
            break
        cells = _cells(line)
        if not cells:
            following = lines[number] if number < len(lines) else ""
            delimiter = delimiter or _delimiter(file, line, following)
            cells = _split(line, delimiter) if delimiter else []
        if cells and _is_head(file, cells):
            yield from figures_of(file, above(file), rows)
            head, rows, heads = cells, [], heads + 1
        elif head and len(cells) == len(head):
            rows.append(Row(_row(head, cells), number, (file, number)))
        elif not cells or (delimiter == " " and not any(map(_is_number, cells))):
            yield from figures_of(file, above(file), rows)
            head, rows, delimiter = [], [], ""
    yield from figures_of(file, above(file), rows)


def _row(head: Sequence[str], cells: Sequence[str]) -> dict[tuple[str, ...], float]:
    pairs = zip(head, cells, strict=True)
    return record(dict(pairs))


def _delimiter(file: str, line: str, following: str) -> str:
    """What stands between the cells of a table's head; empty where a line is none."""
    if len(line) > _LONGEST_LINE or not (above(file) or _may_name(line) or "value" in line.lower()):
        return ""
    for delimiter in ("\t", ",", ";"):
        if delimiter in line:
            cells = _split(line, delimiter)
            if _is_head(file, cells) and all(len(cell) < 40 for cell in cells):
                return delimiter
    numbers, head = following.split(), _split(line, " ")
    # Words are a head between spaces only where as many numbers stand under them.
    return (
        " "
        if len(head) == len(numbers) > 1 and all(map(_is_number, numbers)) and _is_head(file, head)
        else ""
    )


def _is_head(file: str, cells: Sequence[str]) -> bool:
    if len(cells) < 2 or any(map(_is_number, cells)):
        return False
    return (bool(above(file)) and all(cells)) or _names(cells) or pivots(cells)


def _may_name(line: str) -> bool:
    """Whether a line is worth reading: a cheap question before dear ones."""
    lowered = line.lower()
    return any(word in lowered for word in _WORDS)


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.strip().lstrip("#").split()
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _names(cells: Sequence[str]) -> bool:
    return any(Name.of((cell,)).kind in ("loss", "perplexity") for cell in cells)


def _is_number(cell: str) -> bool:
    return number_in(cell) is not None


def _of_line(file: str, line: str, number: int) -> Iterator[Figure]:
    """Figures of a line such as ``step 100 | train loss 4.32 | val loss 4.50 (ppl 90.0)``."""
    if not _may_name(line):
        return
    listed = _LIST.fullmatch(line.strip()) if line.rstrip(" ,")[-1:] in ("]", ")") else None
    items = loaded_json(listed["list"].translate(_PYTHON)) if listed is not None else None
    if listed is not None and isinstance(items, list) and len(items) > 2:
        for figure in of_document(file, "", {listed["name"].strip(): items}):
            yield replace(figure, line=number)
        return
    if len(line) > _LONGEST_LINE:
        return
    step = _STEP.search(line) or _EPOCH.search(line)
    before, split = 0, Name("").split
    for match in _FIGURE.finditer(line):
        # What stands between the last number and this word tells whose figure it is.
        own = Name.of((line[before : match.start()], match["word"]))
        before = match.end()
        split = own.split or split
        name = Name(own.kind, split, own.moment)
        if name.kind in ("loss", "perplexity"):
            between = next(
                (at for key in ("told", "subscript", "paired", "at", "bare") if (at := match[key])), None
            )
            told = between or (step[1] if step else None)
            yield Figure(
                name,
                Number(match["number"]),
                float(told) if told else None,
                file,
                file,
                number,
                (file, number),
            )
