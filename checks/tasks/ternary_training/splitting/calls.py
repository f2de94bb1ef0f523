"""What a call gives: a draw, an order, a copy, what a function of the submission returns, or a new whole."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from judge_tui.checks.tasks.ternary_training.figures import words
from judge_tui.checks.tasks.ternary_training.splitting.draws import drawn, generator_of, made_generator
from judge_tui.checks.tasks.ternary_training.splitting.following import followed, function_of
from judge_tui.checks.tasks.ternary_training.splitting.frames import Reading
from judge_tui.checks.tasks.ternary_training.splitting.randomness import DRAWS, MADE, SEEDS, Generator
from judge_tui.checks.tasks.ternary_training.splitting.rows import (
    Empty,
    Group,
    Mask,
    Noise,
    Number,
    Rows,
    Step,
    Value,
    indices,
    key_of,
    size_of,
)
from judge_tui.checks.tasks.ternary_training.splitting.written import Evaluate, dotted

__all__ = ["called"]

#: What gives the same elements in the same order: as a list, as an array of its own, or as it is.
_LISTS = frozenset({"list", "tuple", "tolist", "deepcopy"})
_ARRAYS = frozenset({"array", "stack", "vstack", "astype", "copy", "tensor", "concatenate"})
_VIEWS = frozenset({"asarray", "ascontiguousarray", "iter", "squeeze", "view", "from_numpy", "to", "long"})
_SHAPES = frozenset({"reshape", "ravel", "flatten"})
#: What leaves something out, in a way that is not followed.
_LEAVING = frozenset({
    "exclude", "excluding", "without", "except", "difference", "setdiff1d", "delete", "filter", "filtered",
    "remove", "rest", "others", "not", "isin", "in1d", "unique", "dedupe", "dedup", "complement", "remaining",
    "pop", "disjoint",
})  # fmt: skip
#: What makes a figure of a text.
_MEASURES = frozenset({"evaluate", "eval", "mean", "sum", "score", "accuracy", "std", "loss", "nll"})
_LEAVES_OUT = frozenset(
    {"remove", "pop", "insert", "clear", "update", "add", "discard", "reverse", "extend", "fill"}
)


def called(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    """What a call gives; ``None`` where that is a whole of its own.

    Args:
        reading: What is known.
        node: The call.
        evaluate: What an expression gives.
    """
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    function = function_of(reading, node.func)
    if function is not None:
        return followed(reading, node, function, evaluate)
    if name in MADE:
        return made_generator(reading, node, evaluate)
    if name in DRAWS | SEEDS:
        generator = generator_of(reading, node.func, evaluate)
        if generator is not None:
            return drawn(reading, node, generator, evaluate)
    rule = _RULES.get(name)
    told = rule(reading, node, evaluate) if rule else None
    return told if told is not None else _of_a_part(reading, node, name, evaluate)


def _subject(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    """What a function or a method is about: the first argument, or what it is called on."""
    on = node.func.value if isinstance(node.func, ast.Attribute) else None
    if on is not None and not _is_module(reading, on):
        return evaluate(reading, on)
    return evaluate(reading, node.args[0]) if node.args else None


def _is_module(reading: Reading, node: ast.expr) -> bool:
    root = dotted(node).split(".", maxsplit=1)[0]
    return (
        bool(root)
        and reading.found(root) is None
        and root in {*reading.frame.module.imports, "np", "numpy", "random"}
    )


def _copied(listed: bool | None) -> Callable[[Reading, ast.Call, Evaluate], Value]:
    def rule(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
        value = _subject(reading, node, evaluate)
        if isinstance(value, Generator):
            return value.copied()
        if isinstance(value, Empty) or not isinstance(value, Rows):
            return value if isinstance(value, Group | Mask) else None
        return replace(value, listed=listed, memory=reading.memory())

    return rule


def _viewed(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    value = _subject(reading, node, evaluate)
    return value if isinstance(value, Rows | Mask) else None


def _shaped(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    value = _subject(reading, node, evaluate)
    if not isinstance(value, Rows):
        return None
    on_module = isinstance(node.func, ast.Attribute) and _is_module(reading, node.func.value)
    shape = node.args[1:] if on_module else node.args
    first = shape[0] if shape else None
    if isinstance(first, ast.Tuple) and first.elts:
        first = first.elts[0]
    told = evaluate(reading, first) if first is not None else None
    unknown = not isinstance(told, Number | Rows) or ast.unparse(first or node) == "-1"
    length = ("shaped", value.size, ast.dump(node)) if unknown else size_of(told)
    return replace(value, length=length)


def _sorted(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    value = _subject(reading, node, evaluate)
    in_place = (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "sort"
        and not _is_module(reading, node.func.value)
    )
    if not isinstance(value, Rows):
        return None
    how = tuple(ast.dump(keyword) for keyword in node.keywords)
    step = Step("order", ("sorted", how), "sorted order", reading.place(node))
    if in_place:
        reading.reordered(value, step, copies=value.listed is not False)
        return Number(("constant", "None"))
    plain = not value.steps and isinstance(value.of, tuple) and value.of[:1] == ("indices",)
    made = value if plain and not how else value.then(step, length=value.length)
    return replace(made, listed=True if isinstance(node.func, ast.Name) else None, memory=reading.memory())


def _length(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    value = evaluate(reading, node.args[0]) if node.args else None
    return Number(value.size if isinstance(value, Rows) else ("len", key_of(value)))


def _number(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    values = [evaluate(reading, each) for each in node.args]
    if any(
        not isinstance(value, Number | Rows) or (isinstance(value, Rows) and value.steps) for value in values
    ):
        return None
    return Number(("op", ast.unparse(node.func), *map(size_of, values)))


def _counted(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    ends = [size_of(evaluate(reading, each)) for each in node.args if not isinstance(each, ast.Starred)]
    if len(ends) == 3:
        return indices(("stepped", *ends))
    if len(ends) == 2 and ends[0] != ("constant", "0"):
        cut = Step("cut", (ends[0], None), "a range", reading.place(node))
        return Rows(("indices", ends[1]), (cut,), ("op", "Sub", ends[1], ends[0]))
    if not ends:
        return None
    is_range = isinstance(node.func, ast.Name)
    return replace(indices(ends[-1]), listed=None if is_range else False, memory=reading.memory())


def _split(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    """``np.split(x, [n])``."""
    value = evaluate(reading, node.args[0]) if node.args and isinstance(node.func, ast.Attribute) else None
    at = node.args[1] if len(node.args) > 1 else None
    if not isinstance(value, Rows) or not isinstance(at, ast.List | ast.Tuple):
        return None
    ends = [None, *(size_of(evaluate(reading, each)) for each in at.elts), None]
    place = reading.place(node)
    cuts = [Step("cut", pair, "a slice", place) for pair in itertools.pairwise(ends)]
    return Group({number: value.then(cut) for number, cut in enumerate(cuts)})


def _taken(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    """``np.take(x, places, axis=0)`` and ``x.take(places)``, of rows."""
    value, places = _subject(reading, node, evaluate), evaluate(reading, node.args[-1]) if node.args else None
    if isinstance(value, Rows) and isinstance(places, Rows) and (places.steps or places.of != value.of):
        return replace(value.picked(places), memory=reading.memory()) if places.steps else None
    return None


def _where(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    mask = _subject(reading, node, evaluate)
    if not isinstance(mask, Mask) or len(node.args) > 1:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return mask if name == "flatnonzero" else Group({0: mask})


def _inverted(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    mask = _subject(reading, node, evaluate)
    return replace(mask, positive=not mask.positive) if isinstance(mask, Mask) else None


def _order_of_noise(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    """``np.argsort(rng.random(n))``."""
    noise = _subject(reading, node, evaluate)
    if not isinstance(noise, Noise) or noise.size is None:
        return None
    return indices(noise.size).then(
        Step("order", noise.drawn, "a permutation", noise.place), length=noise.size
    )


def _zeros(_reading: Reading, node: ast.Call, _evaluate: Evaluate) -> Value:
    kinds = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
    return Empty(mask=True) if any("bool" in ast.unparse(kind) for kind in kinds) else None


def _appended(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    """A list that elements of one part are appended to is that part; of any other nothing is known."""
    if not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name) or not node.args:
        return None
    name, value = node.func.value.id, evaluate(reading, node.args[0])
    held = reading.found(name)
    if isinstance(held, Empty) and not held.mask and isinstance(value, Rows) and value.steps:
        reading.bind(name, replace(value, listed=True, memory=reading.memory()))
    elif held is not None and key_of(held) != key_of(value):
        reading.forget(name)
    return Number(("constant", "None"))


def _changed(reading: Reading, node: ast.Call, _evaluate: Evaluate) -> Value:
    if isinstance(node.func, ast.Attribute) and (name := dotted(node.func.value)) and reading.found(name):
        reading.forget(name)
    return None


def _of_a_part(reading: Reading, node: ast.Call, name: str, evaluate: Evaluate) -> Value:
    """What an unknown function makes of one part alone comes of that part."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node.func, ast.Attribute) and not _is_module(reading, node.func.value):
        given.append(node.func.value)
    values = [evaluate(reading, each) for each in given if not isinstance(each, ast.Starred)]
    parts = [value for value in values if isinstance(value, Rows) and value.steps]
    others = any(isinstance(value, Mask | Noise | Group) for value in values)
    if len(parts) != 1 or not parts[0].is_part or others or words(name) & (_LEAVING | _MEASURES):
        return None
    length = ("made", ast.dump(node), parts[0].size)
    return replace(parts[0], length=length, listed=None, memory=reading.memory())


_Rule: TypeAlias = "Callable[[Reading, ast.Call, Evaluate], Value]"
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_LISTS, _copied(True)),
    **dict.fromkeys(_ARRAYS, _copied(False)),
    **dict.fromkeys(_VIEWS, _viewed),
    **dict.fromkeys(_SHAPES, _shaped),
    **dict.fromkeys(("sorted", "sort"), _sorted),
    **dict.fromkeys(("int", "round", "max", "min", "float", "floor", "ceil"), _number),
    **dict.fromkeys(("range", "arange"), _counted),
    **dict.fromkeys(("split", "array_split"), _split),
    **dict.fromkeys(("where", "nonzero", "flatnonzero"), _where),
    **dict.fromkeys(_LEAVES_OUT, _changed),
    "logical_not": _inverted,
    "argsort": _order_of_noise,
    "len": _length,
    "take": _taken,
    "zeros": _zeros,
    "append": _appended,
}
