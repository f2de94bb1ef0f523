"""Tables of a JSON document: records, columns, lists of lists, and maps by step."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from judge_tui.checks.tasks.ternary_training.figures import Figure, Name, Number, says_only_which, words
from judge_tui.checks.tasks.ternary_training.logs.columns import HERE, MANY, Keys
from judge_tui.checks.tasks.ternary_training.logs.tables import (
    FRAMES,
    Row,
    figures_of,
    is_number,
    record,
    unnamed,
)

__all__ = ["above", "loaded_json", "of_document", "of_lists"]

_DEEPEST = 12
#: What a record calls the run that it is of.
_RUNS = ("name", "run", "label", "model", "variant", "config", "id", "seed")
_STEP_KEY = re.compile(r"(?P<word>[a-z]*)[ _#:=-]*(?P<step>\d{1,15})", re.I)
#: So many numbers alone at one distance are steps, and no settings that are compared; those that count from 0
#: or 1 on are as well.
_SOME = 10


def loaded_json(text: str) -> Any:
    """A JSON value whose floats keep their digits; ``None`` for what is none."""
    try:
        return json.loads(text, parse_float=Number, parse_int=_whole, parse_constant=Number)
    except (ValueError, RecursionError):
        return None


def _whole(text: str) -> int | float:
    return int(text) if len(text) < 300 else float("inf")


def above(file: str, path: Keys = ()) -> Keys:
    """The keys above a table, the file's name among them where that alone says that it holds losses."""
    stem = PurePosixPath(file).stem
    told = Name.of((stem,)).kind in ("loss", "perplexity")
    plain = all(words(key) <= FRAMES or says_only_which(key) for key in path)
    return (stem, *path) if told and plain else path


def of_document(file: str, text: str, value: Any, path: Keys = (), depth: int = 0) -> Iterator[Figure]:
    """Losses and perplexities of a JSON value."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield from _of_mapping(file, text, value, path, depth)
    elif isinstance(value, list):
        yield from _of_list(file, text, value, path, depth)


def of_lists(
    file: str, path: Keys, rows: Sequence[Any], lines: Sequence[int], text: str = ""
) -> Iterator[Figure]:
    """Losses of lists of numbers, the first of which may hold their names."""
    if len(rows) > 1 and _texts(rows[0]) and all(_cells(row, len(rows[0])) for row in rows[1:]):
        named = [
            Row(
                {(key,): item for key, item in zip(rows[0], row, strict=True) if is_number(item)},
                line,
                (file, path, n),
            )
            for n, (row, line) in enumerate(zip(rows[1:], lines[1:], strict=True))
        ]
        yield from figures_of(file, above(file, path), named, text=text)
    elif len(rows) > 1 and above(file, path) and all(map(_numbers, rows)):
        yield from figures_of(file, above(file, path), unnamed(file, path, rows, lines), text=text)


def _of_mapping(file: str, text: str, value: Mapping[str, Any], path: Keys, depth: int) -> Iterator[Figure]:
    steps = _steps(value, above(file, path))
    if steps is not None:
        yield from _of_steps(file, text, steps, path)
        return
    columns = _columns(value)
    yield from _of_columns(file, text, columns, path)
    if (split := _split(value)) is not None:
        yield from of_lists(file, path, split, [0] * len(split), text)
    scalars: dict[Keys, float] = {(str(key),): item for key, item in value.items() if is_number(item)}
    # What stands beside a list of losses are settings of it.
    inherit = not any(isinstance(item, list) for item in value.values())
    row = Row(scalars, 0, (file, path, "scalars"))
    yield from figures_of(file, path, [row], inherit=inherit, alone=True, text=text)
    for key, item in value.items():
        if key not in columns and isinstance(item, dict | list):
            yield from of_document(file, text, item, (*path, str(key)), depth + 1)


def _of_list(file: str, text: str, items: Sequence[Any], path: Keys, depth: int) -> Iterator[Figure]:
    records = [item for item in items if isinstance(item, dict)]
    if records:
        rows = [Row(record(item), 0, (file, path, n)) for n, item in enumerate(records)]
        yield from figures_of(file, above(file, path), rows, text=text)
        yield from _of_lists_within(file, text, records, path, depth)
    elif _numbers(items):
        if not path:
            # A bare list in losses.json is named by its file.
            yield from _of_columns(file, text, {PurePosixPath(file).stem: items}, ())
    else:
        yield from of_lists(file, path, items, [0] * len(items), text)


def _of_lists_within(
    file: str, text: str, records: Sequence[Mapping[str, Any]], path: Keys, depth: int
) -> Iterator[Figure]:
    """Lists that records hold: those of named runs each by itself, those of epochs one after the other."""
    lists = [{key: item for key, item in each.items() if isinstance(item, list)} for each in records]
    runs = [next((str(each[key]) for key in _RUNS if key in each), "") for each in records]
    if not any(lists):
        return
    if all(runs) and len({*runs}) == len(runs):
        for run, each in zip(runs, lists, strict=True):
            yield from of_document(file, text, each, (*path, run), depth + 1)
    elif all(any(map(is_number, _counting(each))) for each in records):
        joined: dict[str, list[float]] = defaultdict(list)
        for each in lists:
            for key, item in each.items():
                joined[key] += item if _numbers(item) else []
        yield from _of_columns(file, text, joined, path)


def _counting(fields: Mapping[str, Any]) -> list[Any]:
    """What a record has under names of steps and epochs."""
    return [item for key, item in fields.items() if Name.of((key,)).kind in ("step", "epoch")]


def _columns(table: Mapping[str, Any]) -> dict[str, Sequence[float]]:
    return {
        str(key): item
        for key, item in table.items()
        if isinstance(item, list) and len(item) > 1 and _numbers(item)
    }


def _of_columns(file: str, text: str, columns: Mapping[str, Sequence[float]], path: Keys) -> Iterator[Figure]:
    """Lists of numbers side by side: one list per quantity; those of one length are rows."""
    by_length: dict[int, dict[Keys, Sequence[float]]] = defaultdict(dict)
    for key, column in columns.items():
        by_length[len(column)][(key,)] = column
    for length, table in by_length.items():
        rows = [
            Row({keys: column[n] for keys, column in table.items()}, 0, (file, path, length, n), n)
            for n in range(length)
        ]
        yield from figures_of(file, above(file, path), rows, text=text)


def _steps(value: Mapping[str, Any], path: Keys) -> dict[int, Any] | None:
    """A map by step, such as ``{"100": 3.4, "200": 3.1}``; ``None`` for any other."""
    if len(value) < 2:
        return None
    matches = [_STEP_KEY.fullmatch(key) for key in value]
    steps = [int(match["step"]) for match in matches if match is not None]
    said = {match["word"].lower() for match in matches if match is not None} - {""}
    if len(steps) < len(value) or any(Name.of((word,)).kind not in ("step", "epoch") for word in said):
        return None
    if all(isinstance(item, dict) and not any(map(_numbers, item.values())) for item in value.values()):
        return dict(zip(steps, value.values(), strict=True))
    if Name.of(path).kind not in ("loss", "perplexity"):
        return None
    by_step = any(Name.of((word,)).kind in ("step", "epoch") for key in path for word in words(key))
    gaps = {after - before for before, after in itertools.pairwise(steps[:-1])}
    even = len(gaps) == 1 and (len(steps) >= _SOME or (gaps == {1} and steps[0] <= 1))
    if said or by_step or even or len(steps) >= MANY:
        return dict(zip(steps, value.values(), strict=True))
    return None


def _of_steps(file: str, text: str, steps: Mapping[int, Any], path: Keys) -> Iterator[Figure]:
    rows: list[Row] = []
    for n, (step, item) in enumerate(steps.items()):
        cells: dict[Keys, float] = (
            record(item) if isinstance(item, dict) else {(HERE,): item} if is_number(item) else {}
        )
        rows.append(Row(cells, 0, (file, path, "steps", n), step))
    yield from figures_of(file, above(file, path), rows, text=text)
    lists = [[step, *item] for step, item in steps.items() if _numbers(item)]
    if len(lists) > 1:
        yield from of_lists(file, path, lists, [0] * len(lists), text)


def _split(value: Mapping[str, Any]) -> list[Any] | None:
    """Names of columns before their rows: ``{"columns": ["step", "loss"], "data": [[1, 3.4], …]}``."""
    names = next((item for item in value.values() if _texts(item)), None)
    if names is None:
        return None
    rows = next(
        (r for r in value.values() if isinstance(r, list) and r and all(_cells(x, len(names)) for x in r)),
        None,
    )
    return None if rows is None else [names, *rows]


def _texts(item: Any) -> bool:
    return isinstance(item, list) and len(item) > 1 and all(isinstance(each, str) for each in item)


def _cells(row: Any, width: int) -> bool:
    return isinstance(row, list) and len(row) == width and any(map(is_number, row))


def _numbers(items: Any) -> bool:
    return isinstance(items, list) and len(items) > 0 and all(map(is_number, items))
