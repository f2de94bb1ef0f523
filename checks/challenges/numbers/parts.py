"""An answer taken apart: each of several things has an error, a limit and evidence of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from judge_tui.checks.challenges.numbers.offered import Numbers
from judge_tui.checks.worker.border.codec import Record

__all__ = ["paired", "parts"]


def parts(answer: Any, numbers: Numbers) -> dict[str, Any]:
    """Name → part of an answer of the reference's; the whole under its only name.

    Args:
        answer: What it gave.
        numbers: What the challenge offers.
    """
    outputs = numbers.outputs
    if numbers.plain:
        return _named(answer, numbers.parts) or {outputs[0].name: answer}
    if len(outputs) == 1:
        (output,) = outputs
        return {output.name: answer if isinstance(answer, np.ndarray) else next(iter(_items(answer)))}
    return {output.name: part for output, part in zip(outputs, _items(answer), strict=True)}


def paired(answer: Mapping[str, Any], truth: Any, numbers: Numbers) -> dict[str, tuple[Any, Any]]:
    """Name → part of a submission's answer beside that of the reference's.

    Args:
        answer: Output → what was taken for it.
        truth: What the reference gave.
        numbers: What the challenge offers.
    """
    right = parts(truth, numbers)
    if not numbers.plain:
        return {name: (answer[name], part) for name, part in right.items()}
    (whole,) = answer.values()
    mine = _alike(whole, truth, tuple(right)) if len(right) > 1 else None
    if mine is None:
        # one thing, or another number of them, which the comparison of the whole says
        return {numbers.outputs[0].name: (whole, truth)}
    return {name: (own, part) for own, (name, part) in zip(mine, right.items(), strict=True)}


def _named(answer: Any, names: Sequence[str]) -> dict[str, Any]:
    """Name → part of plain data, where it has the parts that the first answer had."""
    if isinstance(answer, tuple):
        return dict(zip(names, answer, strict=True)) if len(answer) == len(names) else {}
    fields = _fields(answer)
    return {name: fields[name] for name in names} if fields.keys() == set(names) else {}


def _alike(answer: Any, truth: Any, names: Sequence[str]) -> list[Any] | None:
    """The parts of an answer in the order of the reference's; ``None`` where it has not got them."""
    fields = _fields(answer)
    if fields.keys() == set(names):
        return [fields[name] for name in names]
    listed = isinstance(answer, (list, tuple)) or (isinstance(answer, np.ndarray) and answer.ndim)
    if isinstance(truth, Mapping) or not (listed or isinstance(answer, Record)):
        # what is asked for by name is not found by its place
        return None
    items = list(answer if listed else fields.values())
    return items if len(items) == len(names) else None


def _fields(answer: Any) -> Mapping[str, Any]:
    if isinstance(answer, Record) and answer.kind != "E":
        return answer.fields
    return answer if isinstance(answer, Mapping) else {}


def _items(answer: Any) -> Iterable[Any]:
    fields = _fields(answer)
    return fields.values() if fields else answer
