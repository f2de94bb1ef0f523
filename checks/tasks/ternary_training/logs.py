"""Reading what training runs write: JSON, JSON lines, CSV, Markdown tables and plain lines of text."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from judge_tui.checks.lines import line_at, split_lines
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.ternary_training.figures import Figure, Name, Number, words

__all__ = ["figures", "loaded_json"]

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".log", ".txt", ".out", ".md", ""})
#: Bytes of one file, and of all; files are untrusted, and larger ones are data.
_MOST_BYTES, _MOST_IN_ALL = 4 << 20, 24 << 20
_MOST_FIGURES = 20_000
#: More heads of tables than this are none.
_MOST_HEADS = 200
#: How far into a file a key is looked for.
_NEAR = 1 << 18
_WORDS = ("loss", "nll", "entropy", "ppl", "perplex", "xent")
#: Keys that only say that here comes a log.
_FRAMES = frozenset({
    "history", "log", "logs", "metrics", "results", "result", "curve", "curves", "data", "records", "entries",
    "summary", "stats", "values", "per", "at", "training", "evaluation",
})  # fmt: skip
_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf(?:inity)?"
_FIGURE = re.compile(
    r"(?<![a-z_\-/])(?P<word>[a-z_\-/]{0,24}?(?:loss|nll|cross[_\- ]?entropy|ppl|perplexity))"
    rf"\s*(?:\([a-z _\-]*\))?\s*[:=]?\s*(?P<number>{_NUMBER})(?![\w%])",
    re.I,
)
_STEP = re.compile(r"\b(?:step|iter|iteration|it|update)s?\b\s*[:=#]?\s*(\d+)", re.I)
_EPOCH = re.compile(r"\bepoch\b\s*[:=#]?\s*(\d+)", re.I)


def figures(submission: Submission) -> list[Figure]:
    """Every loss and perplexity that the submission's files record, file by file, in their order."""
    found: list[Figure] = []
    left = _MOST_IN_ALL
    for file in submission.files:
        if PurePosixPath(file).suffix.lower() in _SUFFIXES and left > 0:
            data = submission.read_bytes(file)[: min(_MOST_BYTES, left)]
            left -= len(data)
            found += itertools.islice(_of_file(file, data.decode("utf-8", "replace")), _MOST_FIGURES)
    return found


def loaded_json(text: str) -> Any:
    """A JSON value whose floats keep their digits; ``None`` for what is none."""
    try:
        return json.loads(text, parse_float=Number, parse_int=_whole, parse_constant=Number)
    except (ValueError, RecursionError):
        return None


def _whole(text: str) -> int | float:
    return int(text) if len(text) < 300 else float("inf")


def _of_file(file: str, text: str) -> Iterator[Figure]:
    value = loaded_json(text) if text.lstrip()[:1] in ("{", "[") else None
    if value is not None:
        yield from _of_json(file, text, value, (), 0)
        return
    lines = split_lines(text)
    yield from _of_tables(file, lines)
    for number, line in enumerate(lines, 1):
        row = loaded_json(line) if line.lstrip().startswith("{") else None
        if isinstance(row, dict):
            yield from _of_row(file, row, (), number, (file, number))
        elif not _cells(line):
            yield from _of_line(file, line, number)


def _of_json(file: str, text: str, value: Any, path: tuple[str, ...], depth: int) -> Iterator[Figure]:
    if depth > 12:
        return
    if isinstance(value, dict):
        yield from _of_columns(file, text, value, path)
        scalars = {key: item for key, item in value.items() if isinstance(item, int | float)}
        yield from _of_row(file, scalars, path, 0, (file, path, "scalars"), text=text, alone=True)
        if len(value) > 1 and all(key.isdecimal() and isinstance(row, dict) for key, row in value.items()):
            # Rows by their step.
            value = {"": [{"step": int(key), **row} for key, row in value.items()]}
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from _of_json(file, text, item, (*path, str(key)), depth + 1)
    elif isinstance(value, list):
        rows = [item for item in value if isinstance(item, dict)]
        for index, row in enumerate(rows):
            yield from _of_row(file, row, path, 0, (file, path, index), text=text)
        if not rows and not path and all(isinstance(item, int | float) for item in value):
            # A bare list in losses.json is named by its file.
            yield from _of_columns(file, text, {PurePosixPath(file).stem: value}, ())


def _of_columns(file: str, text: str, table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Figure]:
    """Lists of numbers side by side: one list per quantity, steps beside them or as pairs."""
    columns = {str(key): item for key, item in table.items() if isinstance(item, list) and _numeric(item)}
    steps = next((column for key, column in columns.items() if Name.of((key,)).kind == "step"), None)
    for key, column in columns.items():
        name = Name.of((*path, key))
        if name.kind not in ("loss", "perplexity"):
            continue
        line = _line_of(text, key)
        for index, item in enumerate(column):
            step: Any = steps[index] if steps is not None and len(steps) == len(column) else index
            value = item
            if isinstance(item, list):
                step, value = item[0], item[-1]
            row = (file, path, len(column), index)
            yield Figure(name, _number(value), float(step), _run(file, (*path, key)), file, line, row)


def _numeric(items: Sequence[Any]) -> bool:
    def plain(item: Any) -> bool:
        return isinstance(item, int | float) and not isinstance(item, bool)

    def pair(item: Any) -> bool:
        return isinstance(item, list) and len(item) == 2 and all(map(plain, item))

    return len(items) > 1 and (all(map(plain, items)) or all(map(pair, items)))


def _of_row(
    file: str,
    row: Mapping[str, Any],
    path: tuple[str, ...],
    line: int,
    identity: tuple[object, ...],
    *,
    text: str = "",
    alone: bool = False,
) -> Iterator[Figure]:
    """Figures that were taken together; nested keys read as one name."""
    flat = dict(_flat(row, ()))
    steps = {Name.of(keys).kind: item for keys, item in flat.items()}
    step = steps.get("step", steps.get("epoch"))
    for keys, item in flat.items():
        name = Name.of((*path, *keys))
        if name.kind not in ("loss", "perplexity") or isinstance(item, bool):
            continue
        if alone and not name.moment:
            name = Name(name.kind, name.split, frozenset({"single"}))
        where = line or _line_of(text, keys[-1])
        at = None if step is None else float(step)
        yield Figure(name, _number(item), at, _run(file, (*path, *keys)), file, where, identity)


def _flat(row: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, item in row.items():
        if isinstance(item, dict) and len(path) < 4:
            yield from _flat(item, (*path, str(key)))
        elif isinstance(item, int | float):
            yield (*path, str(key)), item


def _number(item: Any) -> Number:
    return item if isinstance(item, Number) else Number(repr(item))


def _run(file: str, path: Sequence[str]) -> str:
    """Which run a figure is of: what its keys say apart from what it is."""
    own = [key for key in path if not Name.of((key,)).kind and not words(key) & (_FRAMES | {"train", "val"})]
    return " ".join((file, *own))


def _line_of(text: str, key: str) -> int:
    at = text.find(f'"{key}"', 0, _NEAR)
    return line_at(text, at) if at >= 0 else 1


def _cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table; empty for any other line."""
    stripped = line.strip()
    if not (stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 1):
        return []
    return [cell.strip(" *`") for cell in stripped[1:-1].split("|")]


def _of_tables(file: str, lines: Sequence[str]) -> Iterator[Figure]:
    """CSV, TSV and Markdown tables with a head that names a loss or a perplexity."""
    head: list[str] = []
    delimiter, heads = "", 0
    for number, line in enumerate(lines, 1):
        if heads > _MOST_HEADS:
            # Prose with commas in it.
            return
        cells = _cells(line)
        if not cells:
            delimiter = delimiter or next(
                (d for d in ("\t", ",", ";") if line.count(d) and _heads(line, d)), ""
            )
            cells = _split(line, delimiter) if delimiter else []
        if cells and _may_name(line) and _names(cells) and not any(map(_is_number, cells)):
            head, heads = cells, heads + 1
        elif head and len(cells) == len(head):
            row = {key: Number(cell) for key, cell in zip(head, cells, strict=True) if _is_number(cell)}
            yield from _of_row(file, row, (), number, (file, number))
        elif not cells:
            head, delimiter = [], ""


def _may_name(line: str) -> bool:
    """Whether a line is worth reading: a cheap question before dear ones."""
    lowered = line.lower()
    return any(word in lowered for word in _WORDS)


def _heads(line: str, delimiter: str) -> bool:
    if len(line) > 2000 or not _may_name(line):
        return False
    cells = _split(line, delimiter)
    return _names(cells) and not any(map(_is_number, cells)) and all(len(cell) < 40 for cell in cells)


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _names(cells: Sequence[str]) -> bool:
    return any(Name.of((cell,)).kind in ("loss", "perplexity") for cell in cells)


def _is_number(cell: str) -> bool:
    return re.fullmatch(_NUMBER, cell, re.I) is not None


def _of_line(file: str, line: str, number: int) -> Iterator[Figure]:
    """Figures of a line such as ``step 100 | train loss 4.32 | val loss 4.50 (ppl 90.0)``."""
    if len(line) > 2000 or not _may_name(line):
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
            at = float(step[1]) if step else None
            yield Figure(name, Number(match["number"]), at, file, file, number, (file, number))
