"""Texts that stand in a submission's source: literals, what repeats them, and where they are cut in two.

Nothing is run, so that only what is plain is told: a literal that is trained on and a literal that is held
out, a text that is one passage again and again before its end is cut off as the held-out part, and a
held-out part of a text of which all is trained on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from judge_tui.checks.sources import parsed, python_files
from judge_tui.checks.submission import Submission

__all__ = ["Repeated", "Undivided", "literals", "repeated", "sliced", "trees", "undivided"]

#: Characters from which on a literal is a text to learn from, and to which a repeated one is written out.
_LEAST, _MOST = 64, 1 << 20
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Repeated:
    """A text of one passage again and again, of which the end is cut off.

    Attributes:
        name: The variable that holds it.
        file: Where it stands.
        line: 1-based.
        times: How often the passage comes.
        cut: 1-based line where what is made of it is cut in two.
        passage: How it begins.
    """

    name: str
    file: str
    line: int
    times: int
    cut: int
    passage: str


@dataclass(frozen=True, slots=True)
class Undivided:
    """Two variables, one of which is all of a third and the other a part of it.

    Attributes:
        whole: The one that is all of it.
        part: The one that is a slice of it.
        of: The third.
        file: Where they are assigned.
        line: 1-based line of the slice.
    """

    whole: str
    part: str
    of: str
    file: str
    line: int


def undivided(submission: Submission) -> Iterator[Undivided]:
    """Every variable that is a slice of another, ``x[n:]``, beside one that is all of it.

    Each of the three is assigned once, in one function or module, and the whole is never cut later.
    """
    for file, tree in trees(submission):
        for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, _Function))):
            assigned = list(_assigned_in(scope))
            once = [(n, value) for n, value in assigned if sum(n == other for other, _ in assigned) == 1]
            for part, cut in once:
                of = sliced(cut)
                # A parameter is given once already.
                given = sum(name == of for name, _ in assigned) + _is_parameter(scope, of)
                for whole, value in once:
                    if of and given == 1 and _copied(value) == of and not _is_cut(scope, whole):
                        yield Undivided(whole, part, of, file, cut.lineno)


def _assigned_in(scope: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Assignments of a scope itself, to one name or to several, without those of its functions."""
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop(0)
        if isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For) and isinstance(node.target, ast.Name):
            yield node.target.id, (node.iter if isinstance(node, ast.For) else node.value) or node.target
        todo += ast.iter_child_nodes(node)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        values = value.elts if isinstance(value, ast.Tuple) else [target] * len(target.elts)
        for each, part in zip(target.elts, values, strict=False):
            yield from _pairs(each, part)


def sliced(node: ast.expr) -> str:
    """Of what variable an expression is a part from one end: ``x[n:]``, ``x[:n]``; else empty."""
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and isinstance(node.slice, ast.Slice)
    ):
        one_end = (node.slice.lower is None) != (node.slice.upper is None)
        return node.value.id if one_end and node.slice.step is None else ""
    return ""


def _copied(node: ast.expr) -> str:
    """Of what variable an expression is all: ``x``, ``x[:]``, ``x.copy()``; else empty."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "copy":
        node = node.func.value
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value if not (node.slice.lower or node.slice.upper or node.slice.step) else node
    return node.id if isinstance(node, ast.Name) else ""


def _is_parameter(scope: ast.AST, name: str) -> bool:
    return isinstance(scope, _Function) and any(
        arg.arg == name for arg in ast.walk(scope.args) if isinstance(arg, ast.arg)
    )


def _is_cut(scope: ast.AST, name: str) -> bool:
    """Whether a variable is sliced anywhere in a scope, or changed in place."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Subscript) and name in _names(node.value):
            if isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
                return True
    return False


def literals(submission: Submission) -> Iterator[tuple[str, str, int, str]]:
    """File, name, 1-based line and text of every variable that is assigned a long literal."""
    for file, tree in trees(submission):
        for name, value in _assigned(tree):
            text = _text(value)
            if len(text) >= _LEAST:
                yield file, name, value.lineno, text


def repeated(submission: Submission) -> Iterator[Repeated]:
    """Every repeated text that is cut in two, ``x[:n]`` and ``x[n:]``, as it is or encoded."""
    for file, tree in trees(submission):
        texts = {name: _text(value) for name, value in _assigned(tree)}
        for name, value in _assigned(tree):
            for unit, times in _multiples(value):
                passage = texts.get(unit, unit)
                if len(passage) >= _LEAST and (cut := _cut(tree, name)):
                    yield Repeated(name, file, value.lineno, times, cut, passage.strip()[:_LEAST])


def trees(submission: Submission) -> Iterator[tuple[str, ast.Module]]:
    """Every Python file that can be read, with what it parses to."""
    for file in python_files(submission):
        try:
            yield file, parsed(submission.read_bytes(file))
        except SyntaxError:
            continue


def _assigned(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def _text(node: ast.expr) -> str:
    """A literal's text: a string, a sum or list of strings, a method's answer about one; else empty."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.List | ast.Tuple):
        parts = [_text(item) for item in node.elts]
        return "\n".join(parts) if all(parts) else ""
    if isinstance(node, ast.BinOp):
        left, right = _text(node.left), _text(node.right)
        if isinstance(node.op, ast.Add):
            return left + right if left and right else ""
        times = _times(node)
        return ((left or right) * times)[:_MOST] if times else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        # strip, lower, dedent(text), " ".join([...]): near enough to be compared.
        return max([_text(node.func.value), *map(_text, node.args)], key=len)
    return ""


def _times(node: ast.BinOp) -> int:
    """How often a product repeats a sequence; 0 for any other operation."""
    if not isinstance(node.op, ast.Mult):
        return 0
    factors = (side.value for side in (node.left, node.right) if isinstance(side, ast.Constant))
    return next((f for f in factors if isinstance(f, int) and not isinstance(f, bool) and f > 1), 0)


def _multiples(value: ast.expr) -> Iterator[tuple[str, int]]:
    """What an expression repeats, a text or the name of one, and how often."""
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp) and (times := _times(node)):
            for side in (node.left, node.right):
                unit = side.id if isinstance(side, ast.Name) else _text(side)
                if unit:
                    yield unit, times


def _cut(tree: ast.Module, name: str) -> int:
    """1-based line where a variable, or what is made of it, is cut in two; 0 where it is not."""
    made = _made_of(tree, name)
    heads: dict[tuple[str, str], int] = {}
    tails: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in made:
            part = node.slice
            if isinstance(part, ast.Slice) and part.step is None:
                if part.lower is None and part.upper is not None:
                    heads.setdefault((node.value.id, ast.dump(part.upper)), node.lineno)
                elif part.upper is None and part.lower is not None:
                    tails.add((node.value.id, ast.dump(part.lower)))
    return min((line for key, line in heads.items() if key in tails), default=0)


def _made_of(tree: ast.Module, name: str) -> set[str]:
    """Variables and parameters that a variable's content may reach, by assignments and calls."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, _Function)}
    made = {name}
    while True:
        before = len(made)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and _names(node.value) & made:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                made |= {n for target in targets for n in _names(target)}
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
                parameters = functions[node.func.id].args
                named = zip([*parameters.posonlyargs, *parameters.args], node.args, strict=False)
                made |= {parameter.arg for parameter, value in named if _names(value) & made}
        if len(made) == before:
            return made


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
