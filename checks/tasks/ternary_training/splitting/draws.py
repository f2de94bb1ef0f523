"""Draws from generators: orders, picks, random numbers, and the seeds they come of."""

from __future__ import annotations

import ast
from dataclasses import replace

from judge_tui.checks.tasks.ternary_training.splitting.frames import Reading
from judge_tui.checks.tasks.ternary_training.splitting.randomness import GLOBAL, SEEDS, Generator, is_named_so
from judge_tui.checks.tasks.ternary_training.splitting.rows import (
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
from judge_tui.checks.tasks.ternary_training.splitting.written import Evaluate, argument, dotted

__all__ = ["drawn", "generator_of", "made_generator"]

_ORDERS = frozenset({"permutation", "permuted", "shuffle"})
_PICKS = frozenset({"choice", "choices", "sample"})
_WHOLE_NUMBERS = frozenset({"integers", "randint", "randrange"})
_ZERO = ("constant", "0")


def made_generator(reading: Reading, node: ast.Call, evaluate: Evaluate) -> Value:
    """``default_rng(seed)`` and its like."""
    seed = argument(node, 0, "seed", "x")
    value = evaluate(reading, seed) if seed is not None else None
    if isinstance(value, Generator):
        return value
    if value is None or (isinstance(value, Number) and value.key == ("constant", "None")):
        return Generator(("fresh", reading.memory()))
    return Generator(("seed", key_of(value)))


def generator_of(reading: Reading, func: ast.expr, evaluate: Evaluate) -> Generator | None:
    """What a method draws from; ``None`` where it is no generator."""
    if isinstance(func, ast.Name):
        path = reading.frame.module.imports.get(func.id, "")
        return _given(reading, path.rpartition(".")[0]) if path.rpartition(".")[0] in GLOBAL else None
    if not isinstance(func, ast.Attribute):
        return None
    name = dotted(func.value)
    root = name.split(".", maxsplit=1)[0]
    if name and reading.found(root) is None:
        path = reading.frame.module.imports.get(root, root)
        full = path + name[len(root) :]
        if full in GLOBAL:
            return _given(reading, full)
    value = evaluate(reading, func.value)
    if isinstance(value, Generator):
        return value
    if func.attr in ("permutation", "permuted", "shuffle") or is_named_so(func.value):
        return _given(reading, key_of(value))
    return None


def _given(reading: Reading, key: object) -> Generator:
    key = "numpy.random" if key == "np.random" else key
    return reading.generators.setdefault(key, Generator(("given", key)))


def drawn(reading: Reading, node: ast.Call, generator: Generator, evaluate: Evaluate) -> Value:
    """What a draw gives; ``None`` where that is not followed."""
    name = dotted(node.func)
    name = reading.frame.module.imports.get(name, name).rpartition(".")[2]
    if name == "seed":
        seed = argument(node, 0, "seed", "a")
        value = evaluate(reading, seed) if seed is not None else None
        generator.seeded(("fresh", reading.memory()) if value is None else ("seed", key_of(value)))
        return Number(("constant", "None"))
    if name in SEEDS:
        generator.seeded(("restored", reading.memory()))
        return Number(("constant", "None"))
    name = name or getattr(node.func, "attr", "")
    if name in _ORDERS:
        return _ordered(reading, node, generator, name, evaluate)
    if name in _PICKS:
        return _picked(reading, node, generator, name, evaluate)
    if name in _WHOLE_NUMBERS:
        return _places(reading, node, generator, evaluate)
    size = argument(node, 0, "size") if name != "uniform" else argument(node, 2, "size")
    told = size_of(evaluate(reading, size)) if size is not None else None
    return Noise(generator.draw(), reading.place(node), told)


def _ordered(reading: Reading, node: ast.Call, generator: Generator, name: str, evaluate: Evaluate) -> Value:
    first = argument(node, 0, "x")
    value = evaluate(reading, first) if first is not None else None
    if isinstance(value, Number):
        value = indices(value.key)
    order = generator.draw()
    if not isinstance(value, Rows):
        return None
    place = reading.place(node)
    if name == "shuffle":
        of_lists = order.source[1] == "random" or dotted(node.func).startswith("random.")
        reading.reordered(
            value, Step("order", order, "a shuffle", place), copies=of_lists or value.listed is True
        )
        return Number(("constant", "None"))
    made = value.then(Step("order", order, "a permutation", place), length=value.length)
    return replace(made, listed=False, memory=reading.memory())


def _picked(reading: Reading, node: ast.Call, generator: Generator, name: str, evaluate: Evaluate) -> Value:
    first = argument(node, 0, "a", "population", "seq")
    value = evaluate(reading, first) if first is not None else None
    order = generator.draw()
    if isinstance(value, Group):
        told = [item for item in value.items.values() if isinstance(item, Number)]
        truths = {("constant", "True"), ("constant", "False")}
        return (
            Mask(Noise(order, reading.place(node)))
            if told and {item.key for item in told} == truths
            else None
        )
    if isinstance(value, Number):
        value = indices(value.key)
    if not isinstance(value, Rows):
        return None
    place = reading.place(node)
    count = argument(node, 1, "size", "k")
    if name == "sample" or _is_false(argument(node, 2, "replace")):
        size = size_of(evaluate(reading, count)) if count is not None else None
        cut = Step("cut", (None, size), "a draw", place)
        made = value.then(Step("order", order, "a random draw", place), cut, length=size)
    else:
        made = value.then(Step("drawn", order, "drawn at random", place))
    return replace(made, listed=None, memory=reading.memory())


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _places(reading: Reading, node: ast.Call, generator: Generator, evaluate: Evaluate) -> Value:
    """Whole numbers from 0 to an end, which may be places."""
    low, high = argument(node, 0, "low"), argument(node, 1, "high")
    order = generator.draw()
    if low is None or (high is not None and size_of(evaluate(reading, low)) != _ZERO):
        return None
    end = size_of(evaluate(reading, high if high is not None else low))
    step = Step("drawn", order, "drawn at random", reading.place(node))
    return Rows(("indices", end), (step,), None, None, reading.memory())
