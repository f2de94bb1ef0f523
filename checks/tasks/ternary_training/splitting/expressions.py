"""What an expression gives: a part of a whole, a number, a mask, or a whole of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from judge_tui.checks.tasks.ternary_training.splitting.calls import called
from judge_tui.checks.tasks.ternary_training.splitting.frames import Reading
from judge_tui.checks.tasks.ternary_training.splitting.randomness import Generator
from judge_tui.checks.tasks.ternary_training.splitting.rows import (
    Empty,
    Group,
    Key,
    Mask,
    Noise,
    Number,
    Rows,
    Step,
    Value,
    is_heavy,
    key_of,
    size_of,
)
from judge_tui.checks.tasks.ternary_training.splitting.written import dotted, repeats

__all__ = ["bound", "evaluated", "names_in", "truth"]

_Comprehension = ast.ListComp | ast.GeneratorExp


def evaluated(reading: Reading, node: ast.expr) -> Value:
    """What an expression gives; nothing of it is run.

    Raises:
        Unfollowed: The source is too long.
    """
    reading.spend()
    rule = _RULES.get(type(node))
    value = rule(reading, node) if rule else None
    value = value if value is not None else _whole(reading, node)
    return reading.fresh() if is_heavy(key_of(value)) else value


def bound(reading: Reading, target: ast.expr, value: Value) -> None:
    """Bind what an assignment or a loop binds."""
    if isinstance(target, ast.Name):
        reading.bind(target.id, value)
    elif isinstance(target, ast.Attribute) and target.attr == "state":
        _restored(reading, target)
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        reading.bind(f"{target.value.id}.{target.attr}", value)
    elif isinstance(target, ast.Tuple | ast.List):
        for number, each in enumerate(target.elts):
            item = value.items.get(number) if isinstance(value, Group) else None
            bound(reading, each, item if item is not None else reading.fresh())
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        _set(reading, target.value.id, target.slice, value)


def _restored(reading: Reading, target: ast.Attribute) -> None:
    """``rng.bit_generator.state = state``: it may go on as it did before."""
    owner = target.value.value if isinstance(target.value, ast.Attribute) else target.value
    value = evaluated(reading, owner)
    generator = value if isinstance(value, Generator) else reading.generators.get(key_of(value))
    if isinstance(generator, Generator):
        generator.seeded(("restored", reading.memory()))


def truth(reading: Reading, node: ast.expr) -> bool | None:
    """Whether a condition holds, where constants decide it."""
    value = evaluated(reading, node)
    if isinstance(value, Number) and isinstance(value.key, tuple) and value.key[0] == "constant":
        return value.key[1] not in ("False", "None", "0", "''", "0.0")
    return None


def names_in(node: ast.AST) -> set[str]:
    """Every name that stands in it."""
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def _set(reading: Reading, name: str, at: ast.expr, value: Value) -> None:
    """Elements of a mask are set at places; of anything else nothing is known afterwards."""
    held, places = reading.found(name), evaluated(reading, at)
    if isinstance(held, Empty) and held.mask and isinstance(places, Rows) and places.steps:
        reading.bind(name, Mask(places))
    else:
        reading.forget(name)


def _whole(reading: Reading, node: ast.expr) -> Rows:
    """A whole of its own, the same where the same is made of the same."""
    if not repeats(reading, node):
        return reading.fresh()
    names = sorted(names_in(node))
    inner = tuple((name, key_of(value)) for name in names if (value := reading.found(name)) is not None)
    # A copy of the constructor's name, and not the file's line: what is made twice is one.
    key = ("made", ast.dump(node), inner)
    return Rows(key, memory=reading.memory(key))


def _name(reading: Reading, node: ast.Name) -> Value:
    return reading.found(node.id)


def _constant(_reading: Reading, node: ast.Constant) -> Value:
    return Number(("constant", repr(node.value)))


def _attribute(reading: Reading, node: ast.Attribute) -> Value:
    held = reading.found(dotted(node))
    if held is not None:
        return held
    owner = evaluated(reading, node.value)
    if node.attr == "size":
        # Of more than one dimension no size bounds a place.
        return Number(_count(owner))
    if isinstance(owner, Group):
        return owner.items.get(node.attr)
    if isinstance(owner, Rows) and not owner.steps:
        key = ("attribute", owner.of, node.attr)
        return Rows(key, memory=reading.memory(key))
    return None


def _operation(reading: Reading, node: ast.BinOp) -> Value:
    left, right = evaluated(reading, node.left), evaluated(reading, node.right)
    kind = type(node.op).__name__
    for places, other in ((left, right), (right, left)):
        if isinstance(places, Rows) and (places.steps or _is_places(places)):
            return _moved(kind, places, other)
    if any(isinstance(side, Number | Rows) is False for side in (left, right)):
        return None
    return Number(("op", kind, size_of(left), size_of(right)))


def _moved(kind: str, places: Rows, other: Value) -> Value:
    """Places that something is added to, or that are multiplied: those of windows, or of their elements."""
    if not _is_places(places) or (isinstance(other, Rows) and other.steps):
        return None
    if kind == "Add" and isinstance(other, Rows) and _is_places(other):
        return replace(places, length=("window", other.size))
    if kind == "Add" and isinstance(other, Number) and other.key in (("constant", "0"), ("constant", "1")):
        return places
    if kind == "Mult":
        return Rows(("indices", ("times", places.of, size_of(other))), places.steps, places.length)
    return None


def _is_places(rows: Rows) -> bool:
    return isinstance(rows.of, tuple) and rows.of[:1] == ("indices",)


def _unary(reading: Reading, node: ast.UnaryOp) -> Value:
    value = evaluated(reading, node.operand)
    if isinstance(value, Mask) and isinstance(node.op, ast.Invert):
        return replace(value, positive=not value.positive)
    if isinstance(value, Number):
        held = truth(reading, node.operand) if isinstance(node.op, ast.Not) else None
        return (
            Number(("constant", repr(not held)))
            if held is not None
            else Number(("op", type(node.op).__name__, value.key))
        )
    return None


def _comparison(reading: Reading, node: ast.Compare) -> Value:
    if len(node.ops) != 1:
        return None
    left, right, kind = evaluated(reading, node.left), evaluated(reading, node.comparators[0]), node.ops[0]
    if isinstance(left, Rows) and _is_places(left) and left.steps and left.steps[-1].kind == "drawn":
        step = left.steps[-1]
        left = Noise(step.key, step.place)  # type: ignore[arg-type]
    if isinstance(left, Noise) and isinstance(right, Number | Rows):
        return Mask(left, isinstance(kind, ast.Lt | ast.LtE | ast.NotEq))
    if (
        isinstance(left, Number)
        and isinstance(right, Number)
        and isinstance(kind, ast.Eq | ast.NotEq | ast.Is)
    ):
        if all(isinstance(side.key, tuple) and side.key[0] == "constant" for side in (left, right)):
            return Number(("constant", repr((left == right) != isinstance(kind, ast.NotEq))))
    return None


def _sequence(reading: Reading, node: ast.Tuple | ast.List) -> Value:
    if not node.elts and isinstance(node, ast.List):
        return Empty()
    if any(isinstance(item, ast.Starred) for item in node.elts) or len(node.elts) > 16:
        return None
    return Group({number: evaluated(reading, item) for number, item in enumerate(node.elts)})


def _mapping(reading: Reading, node: ast.Dict) -> Value:
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    if len(keys) != len(node.values) or len(keys) > 32:
        return None
    return Group({key: evaluated(reading, value) for key, value in zip(keys, node.values, strict=True)})


def _choice(reading: Reading, node: ast.IfExp) -> Value:
    held = truth(reading, node.test)
    if held is not None:
        return evaluated(reading, node.body if held else node.orelse)
    one, other = evaluated(reading, node.body), evaluated(reading, node.orelse)
    return one if key_of(one) == key_of(other) else None


def _each(reading: Reading, node: ast.ListComp | ast.GeneratorExp) -> Value:
    """One element for each: all of what they are elements of, or picked at random where they are not."""
    if len(node.generators) != 1 or node.generators[0].ifs:
        return None
    loop = node.generators[0]
    over = evaluated(reading, loop.iter)
    frame = reading.frame
    kept = dict(frame.names)
    bound(reading, loop.target, over)
    made = evaluated(reading, node.elt)
    frame.names = kept
    if isinstance(made, Group):
        made = made.items.get(0)
    if not isinstance(made, Rows):
        return None
    if names_in(loop.target) & names_in(node.elt):
        return replace(made, listed=True, memory=reading.memory()) if isinstance(over, Rows) else None
    return _again_and_again(reading, made)


def _again_and_again(reading: Reading, made: Rows) -> Rows | None:
    at = next((at for at, step in enumerate(made.steps) if step.kind in ("order", "drawn")), None)
    if at is None:
        return None
    step = replace(made.steps[at], kind="drawn")
    return Rows(made.of, (*made.steps[:at], step), None, True, reading.memory())


def _element(reading: Reading, node: ast.Subscript) -> Value:
    at = node.slice
    if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        if isinstance(at, ast.Constant) and at.value == 0:
            return Number(_count(evaluated(reading, node.value.value)))
        return None
    value = evaluated(reading, node.value)
    if isinstance(at, ast.Tuple) and at.elts:
        at = at.elts[0]
    if isinstance(value, Group):
        key = at.value if isinstance(at, ast.Constant) else None
        return value.items.get(key) if isinstance(key, int | str) else None
    if not isinstance(value, Rows):
        return None
    return _sliced(reading, node, value, at) if isinstance(at, ast.Slice) else _picked(reading, value, at)


def _count(value: Value) -> Key:
    """The number of elements of a value."""
    return value.size if isinstance(value, Rows) else ("len", key_of(value))


def _sliced(reading: Reading, node: ast.Subscript, value: Rows, at: ast.Slice) -> Value:
    if at.step is not None:
        return None
    memory = reading.memory() if value.listed else value.memory
    if at.lower is None and at.upper is None:
        return replace(value, memory=memory)
    ends = [evaluated(reading, end) if end is not None else None for end in (at.lower, at.upper)]
    low = ends[0]
    if isinstance(low, Rows) and (low.steps or _is_places(low)):
        ordered = any(step.kind == "order" for step in value.steps) and not value.is_part
        if low.steps or not ordered:
            window = set(_leaves_of(reading, at.upper)) if at.upper is not None else set()
            return _at_places(value, low, window)
    keys = tuple(None if end is None else size_of(end) for end in ends)
    length = keys[1] if keys[0] is None else ("rest", value.size, keys)
    return replace(
        value,
        steps=(*value.steps, Step("cut", keys, "a slice", reading.place(node))),
        length=length,
        memory=memory,
    )


def _picked(reading: Reading, value: Rows, at: ast.expr) -> Value:
    """What an index picks: the elements at places, those of a mask, or one."""
    index = evaluated(reading, at)
    if isinstance(index, Mask):
        return _masked(reading, value, index, at)
    if isinstance(index, Rows) and (index.steps or _is_places(index)):
        window = index.length
        leaves = set(_leaves(window[1])) if isinstance(window, tuple) and window[:1] == ("window",) else set()
        return replace(_at_places(value, index, leaves), memory=reading.memory())
    return None


def _at_places(value: Rows, places: Rows, window: set[Key]) -> Rows:
    """Elements, or windows of them, at places; the last, which a window's length keeps out, are no matter."""
    size, taken = places.of[1] if _is_places(places) else None, []  # type: ignore[index]
    while isinstance(size, tuple) and size[:2] == ("op", "Sub") and size != value.size:
        taken.append(size[3])
        size = size[2]
    if taken and size == value.size and all(_within(lost, window) for lost in taken):
        places = replace(places, of=("indices", value.size))
    return value.picked(places)


def _within(lost: Key, window: set[Key]) -> bool:
    """Whether what is kept out at the end is as long as a window, or one more."""
    leaves = set(_leaves(lost))
    named = {leaf for leaf in leaves if not _is_constant(leaf)}
    if named:
        return named <= window
    numbers = [_whole_number(leaf) for leaf in window]
    return all(any(abs(_whole_number(one) - other) <= 2 for other in (*numbers, 0)) for one in leaves)


def _is_constant(key: Key) -> bool:
    return isinstance(key, tuple) and key[:1] == ("constant",)


def _whole_number(key: Key) -> float:
    text = key[1] if isinstance(key, tuple) and _is_constant(key) else ""
    return float(text) if isinstance(text, str) and text.isdigit() else float("inf")


def _leaves(key: Key) -> Iterator[Key]:
    """What a size is computed from."""
    if isinstance(key, tuple) and key[:1] == ("op",):
        for part in key[2:]:
            yield from _leaves(part)
    else:
        yield key


def _leaves_of(reading: Reading, node: ast.expr) -> Iterator[Key]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute | ast.Constant):
            yield from _leaves(size_of(evaluated(reading, part)))


def _masked(reading: Reading, value: Rows, mask: Mask, at: ast.expr) -> Rows:
    if isinstance(mask.by, Noise):
        order = Step("order", mask.by.drawn, "a random mask", mask.by.place)
        made = value.then(order, Step("cut", ("mask", mask.positive), "a mask", reading.place(at)))
        return replace(made, memory=reading.memory())
    made = value.picked(mask.by)
    if mask.positive:
        return replace(made, memory=reading.memory())
    end = next((n for n, step in enumerate(made.steps) if step.kind in ("cut", "drawn")), len(made.steps))
    left = Step("cut", ("not", made.steps[end:]), "all but a part", reading.place(at))
    return Rows(made.of, (*made.steps[:end], left), None, False, reading.memory())


def _called(reading: Reading, node: ast.Call) -> Value:
    return called(reading, node, evaluated)


def _walrus(reading: Reading, node: ast.NamedExpr) -> Value:
    value = evaluated(reading, node.value)
    bound(reading, node.target, value)
    return value


_RULES: dict[type[ast.AST], Callable[[Reading, Any], Value]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.BinOp: _operation,
    ast.UnaryOp: _unary,
    ast.Compare: _comparison,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Dict: _mapping,
    ast.IfExp: _choice,
    ast.ListComp: _each,
    ast.GeneratorExp: _each,
    ast.Subscript: _element,
    ast.Call: _called,
    ast.NamedExpr: _walrus,
}
