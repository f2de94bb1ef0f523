"""Where a submission's training writes projected weights over the latent ones, as its source says.

``layer.weight[:] = project(layer.weight)`` in the loop that updates ``layer.weight`` leaves levels for the
next update, whatever the layer itself does. Weights that are put back later on, and an export behind the
loop, are none of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.sources import is_test_file, parsed, python_files
from judge_tui.checks.tasks.ternary_training.updates import is_change, is_rate, is_update

__all__ = ["Overwrite", "called_with_updates", "overwrites"]

_PROJECTS = re.compile(r"(?i)ternar|quanti[sz]|project|to_?levels|trits?(?![a-z])")
_Loop = ast.For | ast.AsyncFor | ast.While
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Place = ast.Name | ast.Attribute | ast.Subscript
_Parents = Mapping[ast.AST, ast.AST]


@dataclass(frozen=True, slots=True)
class Overwrite:
    """An assignment of projected weights to what they were projected from.

    Attributes:
        file: Where it stands.
        line: 1-based.
        target: What is assigned to, as it is written.
        attribute: The last name of it; empty for a plain variable.
        function: What projects, by its last name.
    """

    file: str
    line: int
    target: str
    attribute: str
    function: str


def overwrites(bench: Bench) -> Iterator[Overwrite]:
    """Every assignment that writes a projection over what is updated beside it; tests are left out."""
    for file, tree, parents in _trees(bench):
        for node in ast.walk(tree):
            for place, value in _assigned(node):
                call = _projecting(value, ast.unparse(place))
                if call is not None and _with_updates(node, place, call, parents):
                    attribute = place.attr if isinstance(place, ast.Attribute) else ""
                    yield Overwrite(file, node.lineno, ast.unparse(place), attribute, _last(call))  # type: ignore[attr-defined]


def called_with_updates(bench: Bench, held: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Methods that are called in a loop that updates something as well: name, file and line.

    Args:
        bench: Where the submission is loaded.
        held: Attributes that hold latent weights.
    """
    for file, tree, parents in _trees(bench):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
                continue
            for region in _regions(node, parents):
                if any(_updates_something(each, held) for each in _walked(region) if each is not node):
                    yield node.func.attr, file, node.lineno
                    break


def _trees(bench: Bench) -> Iterator[tuple[str, ast.AST, _Parents]]:
    for file in python_files(bench.submission):
        if is_test_file(file):
            continue
        try:
            tree = parsed(bench.submission.read_bytes(file))
        except SyntaxError:
            continue
        yield file, tree, {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement writes to, without a slice of all of it, and what it writes."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
            if isinstance(first, _Place):
                yield _whole(first), node.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if _last(call) == "copyto" and len(call.args) == 2:
            yield call.args[0], call.args[1]


def _whole(target: ast.expr) -> ast.expr:
    """``W`` of ``W[:]`` and ``W[...]``."""
    if isinstance(target, ast.Subscript):
        at = target.slice
        everything = isinstance(at, ast.Slice) and at.lower is None and at.upper is None and at.step is None
        if everything or (isinstance(at, ast.Constant) and at.value is ...):
            return target.value
    return target


def _projecting(value: ast.expr, place: str) -> ast.Call | None:
    """The call that what is written comes from, which is handed what stood there before."""
    call = value.value if isinstance(value, ast.Subscript) else value
    if isinstance(call, ast.Call) and any(_holds(each, place) for each in call.args):
        return call
    return None


def _holds(node: ast.AST, place: str) -> bool:
    return any(isinstance(each, _Place) and ast.unparse(each) == place for each in ast.walk(node))


def _last(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _with_updates(node: ast.AST, place: ast.expr, call: ast.Call, parents: _Parents) -> bool:
    """Whether what is written to is updated on the way there, each time, and not put back later on."""
    text = ast.unparse(place)
    own = any(_moves(each, text) for arg in call.args for each in ast.walk(arg)) or _told_change(call, text)
    named = bool(_PROJECTS.search(_last(call)))
    for region in _regions(node, parents):
        within = [each for each in _walked(region) if each is not node and not _inside(each, node, parents)]
        if own or (named and any(_updates(each, text) for each in within)):
            return not any(_put_back(each, text) for each in within)
    return False


def _regions(node: ast.AST, parents: _Parents) -> Iterator[ast.AST]:
    """Loops round a statement, the innermost first; the function where it stands in none of it."""
    at, looped = parents.get(node), False
    while at is not None and not isinstance(at, _Function | ast.ClassDef | ast.Module):
        if isinstance(at, ast.If) and not any(isinstance(each, ast.Mod) for each in ast.walk(at.test)):
            return
        if isinstance(at, _Loop):
            looped = True
            yield at
        at = parents.get(at)
    if not looped and isinstance(at, _Function):
        yield at


def _walked(region: ast.AST) -> Iterator[ast.AST]:
    """What stands in a region; of a function what stands in no loop of it."""
    waiting = [region]
    while waiting:
        node = waiting.pop()
        yield node
        inner = isinstance(region, _Function) and isinstance(node, _Loop)
        waiting.extend(() if inner else ast.iter_child_nodes(node))


def _inside(node: ast.AST, other: ast.AST, parents: _Parents) -> bool:
    at: ast.AST | None = node
    while at is not None:
        if at is other:
            return True
        at = parents.get(at)
    return False


def _moves(node: ast.AST, place: str) -> bool:
    """``W - lr * g``."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub | ast.Add)
        and _holds(node.left, place)
        and _by_change(node.right)
    )


def _by_change(node: ast.AST) -> bool:
    """Whether something is made of a learning rate or of a gradient."""
    names = (
        each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else ""
        for each in ast.walk(node)
    )
    return any(is_rate(name) or is_change(name) for name in names if name)


def _told_change(call: ast.Call, place: str) -> bool:
    """Whether an update is called that is handed the weights, and what to change them by."""
    others = [each for each in call.args if not _holds(each, place)]
    return is_update(_last(call)) and any(_by_change(each) for each in others)


def _updates(node: ast.AST, place: str) -> bool:
    """Whether a statement updates what stands in a place."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub | ast.Add):
        return ast.unparse(_whole(node.target)) == place
    if isinstance(node, ast.Assign):
        return any(ast.unparse(target) == place for target in node.targets) and _moves(node.value, place)
    if isinstance(node, ast.Call) and is_update(_last(node)):
        owned = place.count(".") > 0 and isinstance(node.func, ast.Attribute)
        return owned or any(_holds(each, place) for each in node.args)
    return _goes_through(node) and isinstance(node, ast.For) and _holds(node.iter, place)


def _updates_something(node: ast.AST, held: Collection[str]) -> bool:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub | ast.Add):
        target = _whole(node.target)
        return isinstance(target, ast.Attribute) and target.attr in held
    if isinstance(node, ast.Call):
        return is_update(_last(node))
    return _goes_through(node)


def _goes_through(node: ast.AST) -> bool:
    """``for p, g in …: p -= lr * g``."""
    if not isinstance(node, ast.For):
        return False
    own = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
    return any(
        isinstance(each, ast.AugAssign)
        and isinstance(_whole(each.target), ast.Name)
        and ast.unparse(_whole(each.target)) in own
        for line in node.body
        for each in ast.walk(line)
    )


def _put_back(node: ast.AST, place: str) -> bool:
    """Whether a statement gives a place something that is not made of what stood there."""
    return any(ast.unparse(target) == place and not _holds(value, place) for target, value in _assigned(node))
