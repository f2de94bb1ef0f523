"""What stands under which name after statements: branches are joined, loops are gone through once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from judge_tui.checks.tasks.ternary_training.figures import Name, words
from judge_tui.checks.tasks.ternary_training.splitting.expressions import bound, evaluated, names_in, truth
from judge_tui.checks.tasks.ternary_training.splitting.frames import Function, Reading
from judge_tui.checks.tasks.ternary_training.splitting.rows import Number, Rows, Value, key_of, size_of
from judge_tui.checks.tasks.ternary_training.splitting.written import dotted

__all__ = ["run"]

Names: TypeAlias = "dict[str, Value]"

#: What a call's name says that trains.
_TRAINS = frozenset({
    "backward", "backprop", "update", "step", "sgd", "adam", "gradient", "gradients", "grads", "grad",
    "train", "fit", "optimize", "optimise",
})  # fmt: skip
#: What a name says of a text that is no batch.
_NO_BATCH = frozenset({"prompt", "prompts", "seed", "context", "sample", "samples", "start", "text", "demo"})


def run(reading: Reading, statements: Sequence[ast.stmt]) -> None:
    """Follow statements in the innermost frame."""
    for statement in statements:
        if reading.frame.ended:
            return
        rule = _RULES.get(type(statement))
        if rule:
            rule(reading, statement)


def _assigned(reading: Reading, node: ast.Assign) -> None:
    value = evaluated(reading, node.value)
    for target in node.targets:
        bound(reading, target, value)


def _annotated(reading: Reading, node: ast.AnnAssign) -> None:
    if node.value is not None:
        bound(reading, node.target, evaluated(reading, node.value))


def _augmented(reading: Reading, node: ast.AugAssign) -> None:
    name = dotted(node.target)
    held, value = reading.found(name), evaluated(reading, node.value)
    if isinstance(held, Number) and isinstance(value, Number | Rows):
        reading.bind(name, Number(("op", type(node.op).__name__, held.key, size_of(value))))
    elif name and held is not None:
        reading.forget(name)


def _expression(reading: Reading, node: ast.Expr) -> None:
    evaluated(reading, node.value)


def _returned(reading: Reading, node: ast.Return) -> None:
    frame = reading.frame
    frame.returned.append(evaluated(reading, node.value) if node.value else Number(("constant", "None")))
    reading.told(reading, 0)
    frame.ended = True


def _left(reading: Reading, _node: ast.stmt) -> None:
    reading.frame.ended = True


def _defined(reading: Reading, node: Function) -> None:
    reading.bind(node.name, (node, reading.frame))


def _chosen(reading: Reading, node: ast.If) -> None:
    held = truth(reading, node.test)
    if held is not None:
        run(reading, node.body if held else node.orelse)
    else:
        _branches(reading, node, [node.body, node.orelse])


def _branches(reading: Reading, node: ast.stmt, bodies: Sequence[Sequence[ast.stmt]]) -> None:
    """Go through each from here; what differs afterwards is not known, unless it is told of in only one."""
    frame = reading.frame
    changed = [each for each in frame.chain() if each is frame or each.is_of_self]
    before = [each.names for each in changed]
    after: list[list[Names]] = []
    frame.depth += 1
    for body in bodies:
        for each, names in zip(changed, before, strict=True):
            each.names = dict(names)
        frame.ended = False
        run(reading, body)
        if not frame.ended:
            reading.told(reading, node.end_lineno or 0)
            after.append([each.names for each in changed])
    frame.depth -= 1
    frame.ended = not after
    for at, each in enumerate(changed):
        each.names = _joined(reading, [names[at] for names in after]) if after else before[at]


def _joined(reading: Reading, after: Sequence[Names]) -> Names:
    names: Names = {}
    for name in dict.fromkeys(name for each in after for name in each):
        # A branch that does not bind it leaves what stands outside.
        values = [each[name] for each in after if name in each]
        if len(values) < len(after) and (outside := reading.found_outside(name)) is not None:
            values.append(outside)
        same = all(key_of(value) == key_of(values[0]) for value in values)
        names[name] = values[0] if same else reading.fresh()
    return names


def _looped(reading: Reading, node: ast.For | ast.AsyncFor) -> None:
    over = evaluated(reading, node.iter)
    target = node.target
    if isinstance(target, ast.Tuple) and isinstance(node.iter, ast.Call):
        if getattr(node.iter.func, "id", "") == "enumerate" and node.iter.args:
            over, target = evaluated(reading, node.iter.args[0]), target.elts[-1]
    bound(reading, target, over if isinstance(over, Rows) else reading.fresh())
    _gone_through(reading, node)


def _repeated(reading: Reading, node: ast.While) -> None:
    _gone_through(reading, node)


def _gone_through(reading: Reading, node: ast.For | ast.AsyncFor | ast.While) -> None:
    """Go through a loop once, and tell what its training steps are made on."""
    frame, body = reading.frame, node.body
    run(reading, body)
    if frame.ended:
        # A break or a return in a loop is no end of what stands behind it.
        frame.ended = False
    if any(words(dotted(call.func).rpartition(".")[2]) & _TRAINS for call in _calls(body)):
        used = {name for call in _calls(body) for each in _arguments(call) for name in names_in(each)}
        frame.learned |= {name for name in _bound_in(body) if name in used and _may_be_batch(name)}
    reading.told(reading, node.end_lineno or 0)


def _calls(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Calls of statements, without those of branches and of loops inside."""
    for statement in body:
        if not isinstance(statement, ast.If | ast.For | ast.While | Function | ast.ClassDef):
            yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _bound_in(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Assign):
            yield from (name for target in statement.targets for name in names_in(target))


def _may_be_batch(name: str) -> bool:
    return not words(name) & _NO_BATCH and Name.of((name,)).split != "held-out"


def _with(reading: Reading, node: ast.With | ast.AsyncWith) -> None:
    for item in node.items:
        value = evaluated(reading, item.context_expr)
        if item.optional_vars is not None:
            bound(reading, item.optional_vars, value)
    run(reading, node.body)


def _tried(reading: Reading, node: ast.Try) -> None:
    _branches(reading, node, [[*node.body, *node.orelse], *([*handler.body] for handler in node.handlers)])
    run(reading, node.finalbody)


def _matched(reading: Reading, node: ast.Match) -> None:
    _branches(reading, node, [[], *(case.body for case in node.cases)])


def _deleted(reading: Reading, node: ast.Delete) -> None:
    for target in node.targets:
        name = dotted(target.value if isinstance(target, ast.Subscript) else target)
        if name and reading.found(name) is not None:
            reading.forget(name)


_RULES: dict[type[ast.stmt], Callable[[Reading, Any], None]] = {
    ast.Assign: _assigned,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _returned,
    ast.Raise: _left,
    ast.Continue: _left,
    ast.Break: _left,
    ast.FunctionDef: _defined,
    ast.If: _chosen,
    ast.For: _looped,
    ast.AsyncFor: _looped,
    ast.While: _repeated,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _tried,
    ast.Match: _matched,
    ast.Delete: _deleted,
}
