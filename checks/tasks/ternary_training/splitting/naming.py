"""Which values are held out and which are trained on, by their names, and which of them are at odds."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from judge_tui.checks.tasks.ternary_training.figures import Name, Split, words
from judge_tui.checks.tasks.ternary_training.splitting.frames import Frame, Reading
from judge_tui.checks.tasks.ternary_training.splitting.orders import Apart, Lead, apart
from judge_tui.checks.tasks.ternary_training.splitting.rows import Group, Rows, Value

__all__ = ["Mixed", "conflicts"]

#: What a name says of places, which by themselves are numbers as any others.
_PLACES = frozenset({
    "idx", "idxs", "index", "indices", "indexes", "ids", "rows", "start", "starts", "offsets", "order",
    "perm",
    "positions", "split", "windows", "chunks",
})  # fmt: skip

#: What a name says of a text that is neither trained on nor measured.
_NO_TEXT = frozenset({"prompt", "prompts", "seed", "demo", "example", "examples"})
_FIGURES = ("loss", "perplexity")


@dataclass(frozen=True, slots=True)
class Mixed:
    """Two parts of a split that come of one whole by two orders.

    Attributes:
        held: What is held out.
        trained: What is trained on.
        told: How each was cut, with both places, as a clause.
        certain: Whether nothing else can be meant.
        file: Where the held-out part is cut.
        line: 1-based.
        key: Equal ones say the same.
    """

    held: str
    trained: str
    told: str
    certain: bool
    file: str
    line: int
    key: Hashable


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    split: Split
    rows: Rows


def conflicts(reading: Reading, line: int) -> Iterator[Mixed]:
    """Every held-out part against every one that is trained on, of the names that can be seen.

    Args:
        reading: What is known.
        line: Names that are bound again behind this line of the frame are none; 0 for no such line.
    """
    parts = list(_parts(reading.frame))
    held_out = [part for part in parts if part.split == "held-out"]
    trained_on = [part for part in parts if part.split == "train"]
    for held, trained in itertools.product(held_out, trained_on):
        found = apart(trained.rows, held.rows)
        if found is None or not _may_be_pair(held, trained, parts):
            continue
        if not line or not {held.name, trained.name} & _bound_behind(reading.frame, line):
            yield _mixed(reading, trained, held, found)


def _may_be_pair(held: _Part, trained: _Part, parts: Sequence[_Part]) -> bool:
    """Whether two parts may be of one split: ``train_b`` and ``val`` are none where there is a ``val_b``."""
    one, other = _beside(held), _beside(trained)
    if one == other:
        return True
    return not any(
        (part.split == trained.split and _beside(part) == one)
        or (part.split == held.split and _beside(part) == other)
        for part in parts
    )


def _beside(part: _Part) -> frozenset[str]:
    """What a name says beside its split."""
    return frozenset(word for word in words(part.name.strip("()")) if not Name.of((word,)).split)


def _parts(frame: Frame) -> Iterator[_Part]:
    """What is of a split, of all names that can be seen."""
    seen: set[str] = set()
    for each in frame.chain():
        for name, value in each.names.items():
            if isinstance(value, Rows | Group) and name not in seen:
                yield from _named(name, value, name in each.learned)
        for name, value in each.results:
            yield from _named(name, value)
        seen |= each.names.keys()


def _named(name: str, value: Value, learned: bool = False) -> Iterator[_Part]:
    """The part that a name is of, or those under the keys of a dict; of a tuple the first is told."""
    own = Name.of((name.rpartition(".")[2],))
    if isinstance(value, Group):
        for key, item in value.items.items():
            if isinstance(key, str):
                yield from _part(f"{name}[{key!r}]", Name.of((key,)), item)
            elif key == 0:
                yield from _part(name, own, item)
        return
    yield from _part(name, own, value, learned)


def _part(name: str, own: Name, value: Value, learned: bool = False) -> Iterator[_Part]:
    split: Split = own.split or ("train" if learned else "")
    if (
        split
        and own.kind not in _FIGURES
        and isinstance(value, Rows)
        and value.steps
        and _may_be_text(name, value)
    ):
        yield _Part(name, split, value)


def _may_be_text(name: str, rows: Rows) -> bool:
    """Whether it is a part of a text, or places that are called so: other numbers are drawn as well."""
    if words(name) & _NO_TEXT:
        return False
    is_places = isinstance(rows.of, tuple) and rows.of[:1] == ("indices",)
    return not is_places or bool(words(name) & _PLACES)


def _bound_behind(frame: Frame, line: int) -> set[str]:
    """Names that are bound again, or changed, behind a line of a frame's own statements."""
    if frame.outer is None and frame.function is None and frame.body is not frame.module.tree.body:
        return set()
    return {
        node.id
        for statement in frame.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno > line
    }


def _mixed(reading: Reading, trained: _Part, held: _Part, found: Apart) -> Mixed:
    mine, its = found.one, found.other
    whole = reading.named.get(held.rows.of, "")
    again = mine.order is not None and its.order is not None and mine.order.told == its.order.told
    told = f"{trained.name} is {_how(whole, mine)}, {held.name} {_how(whole, its, again=again)}"
    places = [step.place for lead in (mine, its) for step in (lead.order, lead.cut) if step is not None]
    at = its.cut.place
    return Mixed(held.name, trained.name, told, found.certain, at.file, at.line, tuple(places))


def _how(whole: str, lead: Lead, *, again: bool = False) -> str:
    """How a part was cut, with where; ``again`` where another one was cut so before."""
    of = f" of {whole}" if whole else ""
    at = f"{lead.cut.place.file}:{lead.cut.place.line}"
    if lead.cut.kind == "drawn":
        return f"drawn at random out of all{of} ({at})"
    if lead.order is None:
        return f"cut out of {whole or 'it'} in its own order ({at})"
    name = f"another {lead.order.told.removeprefix('a ')}" if again else lead.order.told
    put = lead.order.place
    there = "" if put == lead.cut.place else f"{put.file}:{put.line}, cut in "
    return f"cut out of {name}{of} ({there}{at})"
