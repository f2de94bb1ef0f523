"""What a log says as tables: rows of numbers that were taken together, under names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from judge_tui.checks.lines import line_at
from judge_tui.checks.tasks.ternary_training.figures import Figure, Name, Number, words
from judge_tui.checks.tasks.ternary_training.logs import columns
from judge_tui.checks.tasks.ternary_training.logs.columns import HERE, VALUES, Keys

__all__ = ["FRAMES", "NUMBER", "Row", "figures_of", "is_number", "number_in", "pivots", "record", "unnamed"]

#: A number as text has it.
NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf(?:inity)?"

#: Keys that only say that here comes a log.
FRAMES = frozenset({
    "history", "log", "logs", "metrics", "results", "result", "curve", "curves", "data", "records", "entries",
    "summary", "stats", "values", "per", "at", "training", "evaluation", "value", "v", "y", "ys", "mean",
    "avg", "average", "scalar", "points", "series",
})  # fmt: skip
#: Fields whose text says what the value beside it is, and of what text it is.
_QUANTITY = frozenset({"tag", "key", "name", "metric", "quantity", "variable", "field", "series"})
_PART = frozenset({
    "split", "phase", "mode", "stage", "subset", "set", "part", "partition", "event", "type",
    "kind",
})  # fmt: skip
_DEEPEST = 4
_WIDEST = 8
#: So many lists of one length are losses of one epoch each.
_EPOCHS = 4
#: How far into a file a key is looked for.
_NEAR = 1 << 18


@dataclass(frozen=True, slots=True)
class Row:
    """Numbers that were taken together.

    Attributes:
        cells: Numbers under the keys within the row.
        line: 1-based; 0 where it is looked for by key.
        identity: Figures of one identity were taken at one moment.
        step: Where in training, where the row itself does not say.
    """

    cells: Mapping[Keys, float]
    line: int
    identity: tuple[object, ...]
    step: float | None = None


def is_number(item: Any) -> TypeGuard[int | float]:
    """Whether a value of a log is a number."""
    return isinstance(item, int | float) and not isinstance(item, bool)


def number_in(text: str) -> Number | None:
    """The number that a text is; ``None`` where it is none."""
    return Number(text) if re.fullmatch(NUMBER, text, re.I) else None


def record(fields: Mapping[str, Any]) -> dict[Keys, float]:
    """Numbers of a record; nested keys read as one name, and text beside a value as its name."""
    spoken = {key.lower(): item for key, item in fields.items() if isinstance(item, str)}
    part = next((item for key, item in spoken.items() if key in _PART and Name.of((item,)).split), None)
    quantity = next((item for key, item in spoken.items() if key in _QUANTITY), None)
    told = {key: _plain(item) for key, item in fields.items()}
    value = next((key for key in VALUES if is_number(told.get(key))), None)
    if quantity is not None and value is not None:
        told[quantity] = told.pop(value)
    cells = dict(_flat(told, ()))
    return {(part, *keys): item for keys, item in cells.items()} if part else cells


def pivots(head: Sequence[str]) -> bool:
    """Whether a column of a table says in words what the value beside it is."""
    spoken = {name.lower() for name in head}
    return bool(spoken & _QUANTITY and spoken & {*VALUES})


def _flat(fields: Mapping[str, Any], path: Keys) -> Iterator[tuple[Keys, float]]:
    """Numbers of nested records under their paths."""
    for key, item in fields.items():
        if isinstance(item, dict) and len(path) < _DEEPEST:
            yield from _flat(item, (*path, str(key)))
        elif is_number(item := _plain(item)):
            yield (*path, str(key)), item


def _plain(item: Any) -> Any:
    """A value, and for a text that is a number that number."""
    number = number_in(item) if isinstance(item, str) else None
    return item if number is None else number


def figures_of(
    file: str, path: Keys, rows: Sequence[Row], *, inherit: bool = True, alone: bool = False, text: str = ""
) -> Iterator[Figure]:
    """Losses and perplexities of a table.

    Args:
        file: The log.
        path: Keys above the table.
        rows: Its rows in their order.
        inherit: Whether a column may be a loss because of the keys above it alone (:func:`.columns.named`).
        alone: Whether its row stands alone, and is no point of a curve.
        text: The file's text, in which a key's line is looked for.
    """
    column: dict[Keys, list[float]] = defaultdict(list)
    for row in rows:
        for keys, item in row.cells.items():
            column[keys].append(item)
    names = columns.named(path, column, inherit=inherit)
    steps = columns.stepping(column, names) if names else None
    where = {keys: _line_of(text, next((k for k in (*keys[::-1], *path[::-1]) if k), "")) for keys in names}
    for row in rows:
        at = row.cells.get(steps, row.step) if steps is not None else row.step
        for keys in row.cells:
            if (name := names.get(keys)) is not None:
                if alone and not name.moment:
                    name = Name(name.kind, name.split, frozenset({"single"}))
                step = None if at is None else float(at)
                value = _number(row.cells[keys])
                line = row.line or where[keys]
                yield Figure(name, value, step, _run(file, (*path, *keys)), file, line, row.identity)


def unnamed(file: str, path: Keys, rows: Sequence[Sequence[float]], lines: Sequence[int]) -> list[Row]:
    """Rows of lists of numbers, such as ``[[step, loss], …]``; none where it cannot be told what they are.

    Args:
        file: The log.
        path: Keys above them.
        rows: The lists.
        lines: Their lines, 0 where they are looked for by key.
    """
    widths = set(map(len, rows))
    if len(rows) <= 3 and len(widths) == 1 and min(widths) > _WIDEST and columns.advances(rows[0]):
        # One list per quantity.
        rows, lines = list(zip(*rows, strict=True)), [lines[0]] * min(widths)
        widths = {len(rows[0])}
    if len(rows) >= _EPOCHS and (len(widths) > 1 or min(widths) > _WIDEST):
        # Losses of each epoch.
        every = [(item, line) for row, line in zip(rows, lines, strict=True) for item in row]
        return [
            Row({(HERE,): item}, line, (file, path, "nested", n), n) for n, (item, line) in enumerate(every)
        ]
    if len(widths) > 1 or not 2 <= min(widths, default=0) <= _WIDEST:
        return []
    told = columns.measured(rows)
    if told is None:
        return []
    index, value = told
    return [
        Row({(HERE,): row[value]}, line, (file, path, len(rows), n), n if index is None else row[index])
        for n, (row, line) in enumerate(zip(rows, lines, strict=True))
    ]


def _number(item: float) -> Number:
    return item if isinstance(item, Number) else Number(repr(item))


def _run(file: str, path: Keys) -> str:
    """Which run a figure is of: what its keys say apart from what it is."""
    framed = FRAMES | {"train", "val"}
    own = [key for key in path if key and not Name.of((key,)).kind and not words(key) & framed]
    return " ".join((file, *own))


def _line_of(text: str, key: str) -> int:
    at = text.find(f'"{key}"', 0, _NEAR)
    return line_at(text, at) if at >= 0 else 1
