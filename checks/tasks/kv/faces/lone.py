"""Decoders of a single sequence: prompts of one axis, (T,) ids or (T, E) vectors, and one id at a time.

A step may take a dict as well: of the sequences that go on, one id or one vector each.
"""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.calling.binding import Binding

__all__ = ["KEYED", "is_lone", "keyed", "lone", "lone_step"]

_PROMPT = {"tokens": "ids", "token": "ids", "x": "rows", "vector": "rows"}
_STEP = {"tokens": "id", "token": "id", "x": "row", "vector": "row"}
_KEYED = {name: f"{one}_by_sequence" for name, one in _STEP.items()}
#: What a dict of the sequences that go on is called when it is handed over.
KEYED = tuple(dict.fromkeys(_KEYED.values()))


def lone(binding: Binding) -> Binding:
    """The same call, handed the tokens or vectors of one sequence without an axis for the batch."""
    return binding.handed(**_PROMPT)


def lone_step(binding: Binding) -> Binding:
    """The same call, handed one id or one vector."""
    return binding.handed(**_STEP)


def keyed(binding: Binding) -> Binding:
    """The same call, handed a dict of one id or one vector per sequence."""
    return binding.handed(**_KEYED)


def is_lone(bindings: Iterable[Binding]) -> bool:
    """Whether one of the calls takes a single sequence."""
    sources = {*_PROMPT.values(), *_STEP.values(), *_KEYED.values()}
    return any(argument.source in sources for binding in bindings for argument in binding.args)
