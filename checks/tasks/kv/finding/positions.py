"""How attention is told where its queries stand, and how many of the keys are real: numbers or arrays.

A name such as ``q_pos`` says neither. An annotation does, and so does the function's own text: what it
indexes, or asks for its shape, is an array. What it does not use as one is one number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.words.masks import functions_of

__all__ = ["alone", "told"]

#: One number → the array that may be meant by its name.
_ARRAYS = {"position": "query_positions", "length": "totals"}
#: Of every query of every sequence, of the first query of every sequence, of every query of all alike. In
#: this order: one number per query goes for one per sequence while a step has one query, and not the other
#: way round.
_STAND = ("query_positions", "first_positions", "row_positions")
_ARRAY = re.compile(r"(?i)array|tensor|sequence|\blist\b")


def told(search: Search, attention: Binding) -> Iterator[Binding]:
    """The same call, told numbers where it wants numbers and arrays where it wants arrays.

    Args:
        search: Whose attention it is.
        attention: Takes q, k and v, or q and a cache.
    """
    if attention.file == ADAPTER or attention.origin != "found":
        yield attention
        return
    arrays = _arrays(search, attention)
    known = attention.handed(**{name: array for name, array in _ARRAYS.items() if name in arrays})
    yield known
    if known.takes("query_positions"):
        yield from (known.handed(query_positions=other) for other in _STAND[1:])
    if known.role == "attend" and known.takes("totals") and not known.takes("lengths"):
        # a name such as ``seq_lens`` says neither whether it counts all that is stored or what has just come
        yield known.handed(totals="lengths")


def alone(attention: Binding) -> Binding:
    """The same call for one sequence at a time: its positions have no axis for a batch."""
    return attention.handed(query_positions="row_positions")


def _arrays(search: Search, attention: Binding) -> set[str]:
    """What is handed to parameters that are arrays, by their annotation or their use."""
    params = search.params(attention.target)
    used = _used_as_arrays(search, attention)
    return {
        _source(attention, params, param["name"])
        for param in params
        if param["name"] in used or _ARRAY.search(str(param.get("annotation", "")))
    }


def _source(binding: Binding, params: Sequence[Mapping[str, Any]], name: str) -> str:
    """What a parameter is handed; empty when nothing is."""
    by_place = [argument for argument in binding.args if not argument.keyword]
    names = [str(param["name"]) for param in params][: len(by_place)]
    handed = dict(zip(names, by_place, strict=False)) | {a.keyword: a for a in binding.args if a.keyword}
    return handed[name].source if name in handed else ""


def _used_as_arrays(search: Search, binding: Binding) -> set[str]:
    """Names that the function indexes, or asks for an attribute, as only arrays have them."""
    functions = functions_of(search.worker.submission, binding.file)
    return {
        inner.value.id
        for node in functions.get(binding.name.rpartition(".")[2], [])
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Subscript, ast.Attribute)) and isinstance(inner.value, ast.Name)
    }
