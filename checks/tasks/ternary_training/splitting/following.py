"""Following a call into a function of the submission."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from judge_tui.checks.tasks.ternary_training.figures import Name
from judge_tui.checks.tasks.ternary_training.splitting.frames import Frame, Function, Module, Reading
from judge_tui.checks.tasks.ternary_training.splitting.rows import Number, Rows, Value, key_of
from judge_tui.checks.tasks.ternary_training.splitting.written import Evaluate

__all__ = ["followed", "function_of", "returned"]

_DEEPEST = 6
_CACHES = frozenset({"cache", "lru_cache"})
_Found = tuple[Function, Frame]


def function_of(reading: Reading, func: ast.expr) -> _Found | None:
    """The function of the submission that is called, and the frame outside of it."""
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        return _method(reading, func.attr)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        other = reading.modules.get(reading.frame.module.imports.get(func.value.id, ""))
        found = other.functions().get(func.attr) if other else None
        return (found, other.frame or Frame(other)) if other and found else None
    if not isinstance(func, ast.Name):
        return None
    held = reading.found(func.id)
    if isinstance(held, tuple) and len(held) == 2 and isinstance(held[0], Function):
        return held
    return _imported(reading, reading.frame.module, func.id) if held is None else None


def _method(reading: Reading, name: str) -> _Found | None:
    """A method of the class whose ``self`` is at hand."""
    for frame in reading.frame.chain():
        held = frame.names.get(f"def {name}")
        if isinstance(held, tuple):
            return held
    return None


def _imported(reading: Reading, module: Module, name: str) -> _Found | None:
    path = module.imports.get(name, "")
    owner, _, own = path.rpartition(".")
    other = reading.modules.get(owner.rpartition(".")[2])
    found = other.functions().get(own) if other else None
    return (found, other.frame or Frame(other)) if other and found else None


def followed(reading: Reading, node: ast.Call, found: _Found, evaluate: Evaluate) -> Value:
    """What a function returns for what it is given; ``None`` where that is not told."""
    function, outer = found
    given = _given(reading, node, function, evaluate)
    running = [frame.function for frame in reading.frames]
    if given is None or function in running or len(running) > _DEEPEST or reading.asked(_is_lazy, function):
        return None
    key = ("call", id(function), tuple((name, key_of(value)) for name, value in given.items()))
    kept = reading.kept.get(key) if reading.asked(_is_cached, function) else None
    if kept is None:
        kept = returned(reading, function, outer, given)
        reading.kept[key] = kept
    if Name.of((function.name,)).split:
        reading.frame.results.append((f"{function.name}()", kept))
    return kept


def returned(reading: Reading, function: Function, outer: Frame, given: dict[str, Value]) -> Value:
    """Follow a function.

    Args:
        reading: What is known.
        function: The function.
        outer: Where names are looked up that are not its own.
        given: Its parameters; what is missing is a whole of its own.
    """
    frame = Frame(outer.module, outer=outer, function=function)
    reading.frames.append(frame)
    try:
        for parameter in _parameters(function):
            value = given.get(parameter.arg)
            if value is None:
                key = ("parameter", id(function), parameter.arg)
                value = Rows(key, memory=reading.memory(key))
            reading.bind(parameter.arg, value)
        reading.run(reading, function.body)
        reading.told(reading, 0)
    finally:
        reading.frames.pop()
    return _one_of(frame.returned)


def _one_of(values: Sequence[Value]) -> Value:
    """What all of several values are; of tuples what every place is."""
    if not values:
        return Number(("constant", "None"))
    first, *others = values
    return first if all(key_of(other) == key_of(first) for other in others) else None


def _parameters(function: Function) -> Iterator[ast.arg]:
    arguments = function.args
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)


def _given(
    reading: Reading, node: ast.Call, function: Function, evaluate: Evaluate
) -> dict[str, Value] | None:
    """Parameters and what they are given; ``None`` where stars stand in the way."""
    arguments = function.args
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if positional[:1] == ["self"]:
        positional = positional[1:]
    starred = any(isinstance(each, ast.Starred) for each in node.args)
    if starred or any(keyword.arg is None for keyword in node.keywords) or len(node.args) > len(positional):
        return None
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    defaults |= {
        each.arg: default
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    }
    written = dict(zip(positional, node.args, strict=False))
    written |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    return {name: evaluate(reading, value) for name, value in (defaults | written).items()}


def _is_lazy(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def _is_cached(function: ast.AST) -> bool:
    decorators = function.decorator_list if isinstance(function, Function) else []
    written = " ".join(ast.unparse(decorator) for decorator in decorators)
    return any(name in written for name in _CACHES)
