"""Reading what a verification returns: accepted tokens or nodes, and the token that follows them.

What a value looks like is settled once, on a tree that any rule of acceptance accepts (see
:func:`settle`), and read the same way from then on.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.binding.answers import kind_of, part_of
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree
from judge_tui.checks.worker.attributed import attributes_of

__all__ = ["Answer", "Form", "read", "settle"]

Key = int | str

_ACCEPTED = (r"^accepted$", r"accepted_?(tokens?|ids?)", r"^tokens", r"accepted", r"tokens|path|nodes|ind")
_NEW = (
    r"^new_?token", r"^(next|bonus|replacement|correction|resampled|sampled|extra|final)_?(token|id)?$",
    r"new|next|bonus|replac|correct|sampled",
)  # fmt: skip
#: What stands in a list of accepted nodes, likeliest first.
_KINDS = ("tokens", "indices", "flags", "flat", "one-based")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verification gave.

    Attributes:
        tokens: Accepted tokens, without the new one.
        nodes: Accepted nodes in their order, where nodes are what is returned.
        new: The token after them: the replacement or the bonus; ``None`` when there is none.
    """

    tokens: Tokens
    nodes: Tokens | None
    new: int | None

    @property
    def output(self) -> Tokens:
        """What the text grows by."""
        return self.tokens if self.new is None else (*self.tokens, self.new)


@dataclass(frozen=True, slots=True)
class Form:
    """How a submission writes its answer.

    Attributes:
        accepted: Where the accepted nodes are; ``None`` when the answer is their list.
        new: Where the new token is; ``None`` when it stands only behind the accepted ones.
        kind: What they are: one of ``tokens``, ``indices``, ``flags`` (one per node), ``flat`` (indices
            that count the prompt), ``one-based``.
        item: Where in an entry the node is, for entries that are pairs or records.
        front: The prompt stands before the accepted tokens.
        closing: The new token stands behind the accepted ones.
        bonus: A new token comes also where everything was accepted; else the last one of such an answer is
            a node's.
    """

    accepted: Key | None = 0
    new: Key | None = 1
    kind: str = "tokens"
    item: Key | None = None
    front: bool = False
    closing: bool = False
    bonus: bool = True

    @property
    def told(self) -> str:
        """In words, for the evidence."""
        parts = {"flat": "indices that count the prompt", "one-based": "indices from 1"}
        words = [f"accepted nodes as {parts.get(self.kind, self.kind)}"]
        words += ["the prompt in front"] * self.front
        words += ["the new token behind them"] * self.closing
        words += ["none where all are accepted"] * (not self.bonus)
        return ", ".join(words)


def settle(
    value: Any, prompt: Sequence[int], tree: Tree, new: int, given: Mapping[str, Key] | None = None
) -> tuple[Form, Answer]:
    """Find out how an answer is written.

    Args:
        value: The answer, as plain data.
        prompt: Prompt of the call; no token of it is a node's index.
        tree: Tree of the call; no token of it is a node's index, with or without the prompt.
        new: The token that a right answer gives as the new one.
        given: ``accepted`` and ``new_token`` where a binding by hand says where they are.

    Raises:
        BadResult: There is no list of accepted nodes in it, or no token beside it.
    """
    given = given or {}
    lists = [key for key, part in _parts(value) if _is_list(part)]
    lists.sort(key=lambda key: _rank(key, _ACCEPTED))
    if "accepted" in given:
        lists = [given["accepted"]]
    places: list[Key | None] = [*lists]
    if _flat(value) and "accepted" not in given and (attributes_of(value) or not lists):
        places.insert(0, None)
    if places == [None] and not attributes_of(value) and len(value) == 2 and value[0] <= len(tree):
        raise BadResult(f"answered with how many nodes it accepted ({value[0]}), and not with which")
    if not places:
        raise BadResult(f"answered with {kind_of(value)} instead of accepted nodes and a new token")
    first: Form | None = None
    for place in places:
        for form in _forms(value, replace(Form(), accepted=place, new=_new_key(value, place, new, given))):
            first = first or form
            answer = _tried(form, value, prompt, tree)
            if answer is not None and answer.tokens and tree.drafted(answer.tokens):
                return form, answer
    if first is None:
        raise BadResult(f"answered with {kind_of(value)} whose items are no accepted nodes")
    answer = _tried(first, value, prompt, tree)
    if answer is None:
        # What it accepted is no path of the tree: the checks say so, once it is read as tokens.
        answer = read(first, value, prompt, tree)
    return first, answer


def _forms(value: Any, form: Form) -> Iterator[Form]:
    entries = value if form.accepted is None else part_of(value, form.accepted)
    items: list[Key | None] = [None]
    if entries and not _flat(entries):
        items = [key for key, part in _parts(entries[0]) if isinstance(part, int)]
    closings = (True,) if form.accepted is None and form.new is None else (False, True)
    for item, kind, front, closing in itertools.product(items, _KINDS, (False, True), closings):
        if (front or closing) and kind != "tokens":
            continue
        yield replace(form, kind=kind, item=item, front=front, closing=closing)


def _tried(form: Form, value: Any, prompt: Sequence[int], tree: Tree) -> Answer | None:
    try:
        return read(form, value, prompt, tree)
    except BadResult:
        return None


def _new_key(value: Any, place: Key | None, new: int, given: Mapping[str, Key]) -> Key | None:
    if "new_token" in given:
        return given["new_token"]
    parts = list(attributes_of(value).items()) if place is None else _parts(value)
    # What stands beside a list of accepted nodes may be counts alone, and the new token behind them.
    scalars = [
        (key, part)
        for key, part in parts
        if key != place and _is_token(part) and (place is not None or _rank(key, _NEW) < len(_NEW))
    ]
    if place is None:
        return min((key for key, _part in scalars), key=lambda key: _rank(key, _NEW), default=None)
    if not scalars:
        raise BadResult(f"answered with {kind_of(value)}: no new token beside the accepted nodes")
    if isinstance(value, Mapping):
        return min((key for key, _part in scalars), key=lambda key: _rank(key, _NEW))
    return next((key for key, part in scalars if _token(part) == new), scalars[0][0])


def read(form: Form, value: Any, prompt: Sequence[int], tree: Tree) -> Answer:
    """Read an answer.

    Args:
        form: How it is written.
        value: The answer, as plain data.
        prompt: Prompt of the call.
        tree: Tree of the call.

    Raises:
        BadResult: It is not written like that, or names a node that is not there.
    """
    entries = value if form.accepted is None else part_of(value, form.accepted)
    if not isinstance(entries, list):
        raise BadResult(f"answered with {kind_of(entries)} where the accepted nodes were")
    new = None if form.new is None else _token(part_of(value, form.new))
    marks = [entry if form.item is None else part_of(entry, form.item) for entry in entries]
    if not all(isinstance(mark, int) for mark in marks):
        raise BadResult(f"answered with {kind_of(entries)} where the accepted nodes were")
    if form.kind != "tokens":
        nodes = _nodes(form.kind, marks, len(prompt), tree)
        return Answer(tree.text(nodes), nodes, new)
    if form.front:
        if tuple(marks[: len(prompt)]) != tuple(prompt):
            raise BadResult("answered without the prompt in front of the accepted tokens")
        marks = marks[len(prompt) :]
    if any(isinstance(mark, bool) for mark in marks):
        raise BadResult("answered with booleans where the accepted tokens were")
    if not form.closing:
        return Answer(tuple(marks), None, new)
    if not form.bonus and marks and tree.drafted(marks):
        return Answer(tuple(marks), None, None)
    if marks and (new is None or marks[-1] == new):
        return Answer(tuple(marks[:-1]), None, marks[-1])
    if marks or new is not None:
        raise BadResult("answered without the new token behind the accepted ones")
    return Answer((), None, None)


def _nodes(kind: str, marks: Sequence[int], prompt: int, tree: Tree) -> Tokens:
    if kind == "flags":
        if len(marks) != len(tree) or not all(isinstance(mark, bool) for mark in marks):
            raise BadResult(f"answered with {len(marks)} values where {len(tree)} flags were")
        found = [node for node, flag in enumerate(marks) if flag]
        return tuple(sorted(found, key=lambda node: len(tree.path(node))))
    if any(isinstance(mark, bool) for mark in marks):
        raise BadResult("answered with booleans where the accepted nodes were")
    first = {"flat": prompt, "one-based": 1}.get(kind, 0)
    nodes = tuple(mark - first for mark in marks)
    if outside := [mark for mark, node in zip(marks, nodes, strict=True) if not 0 <= node < len(tree)]:
        raise BadResult(f"accepted node {outside[0]} of a tree of {len(tree)} nodes")
    return nodes


def _parts(value: Any) -> list[tuple[Key, Any]]:
    if isinstance(value, Mapping):
        return [*value.items(), *attributes_of(value).items()]
    return [*enumerate(value), *attributes_of(value).items()] if isinstance(value, list) else []


def _is_list(part: Any) -> bool:
    return isinstance(part, list) and (
        _flat(part) or all(isinstance(entry, list | dict) and entry for entry in part)
    )


def _flat(part: Any) -> bool:
    return isinstance(part, list) and all(isinstance(entry, int) for entry in part)


def _is_token(part: Any) -> bool:
    try:
        _token(part)
    except BadResult:
        return False
    return True


def _token(part: Any) -> int | None:
    """A token id; ``None`` for none, which -1 and an empty list stand for too."""
    if isinstance(part, list) and len(part) <= 1:
        part = part[0] if part else None
    if isinstance(part, float) and part.is_integer():
        part = int(part)
    if part is None or (isinstance(part, int) and not isinstance(part, bool)):
        return part if part is None or part >= 0 else None
    raise BadResult(f"answered with {kind_of(part)} where the new token was")


def _rank(key: Key, patterns: Sequence[str]) -> int:
    text = str(key).lower().lstrip("_")
    if isinstance(key, int):
        return key
    return next((i for i, pattern in enumerate(patterns) if re.search(pattern, text)), len(patterns))
