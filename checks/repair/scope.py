"""What can be named at a place of a Python source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from judge_tui.checks.repair.edit import left_alone, name_of

__all__ = ["Scope", "nearest", "scopes"]

#: Modules whose attributes are functions, not state.
_KEY = re.compile(r"[A-Za-z_][\w-]{0,23}")
_MODULES = frozenset({"np", "numpy", "math", "cp", "cupy"})


@dataclass(frozen=True, slots=True)
class Scope:
    """What can be named in a function.

    Attributes:
        names: Its parameters, what it assigns, and the module's constants.
        attributes: Name of an object → the attributes that the module asks one of that name for.
        indices: Texts of what the function indexes arrays with.
        functions: Name of a function of the module → others with as many parameters.
        keys: Short texts that the module uses more than words: keys, names of attributes, modes.
        arguments: Name of what is called → texts of its arguments by place, wherever the module calls it.
        values: Name → texts of what it is set to, wherever the module sets it.
        writes: Statements that set attributes of an object, or call its methods, with the object's class.
        owner: The class that the function is a method of; empty for none.
    """

    names: tuple[str, ...] = ()
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    indices: tuple[str, ...] = ()
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    arguments: Mapping[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    writes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    owner: str = ""


def scopes(tree: ast.Module) -> dict[int, Scope]:
    """Id of each node inside a function → what can be named there; of nested functions the inner one's."""
    attributes: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(owner := node.value, ast.Name):
            attributes[owner.id] = (*attributes.get(owner.id, ()), node.attr)
    for module in _MODULES:
        attributes.pop(module, None)
    attributes = {owner: tuple(dict.fromkeys(names)) for owner, names in attributes.items()}
    constants = list(_assigned(tree.body))
    whole = Scope(
        attributes=attributes,
        functions=_alike_functions(tree),
        keys=_keys(tree),
        arguments=_by_key(_arguments(tree)),
        values=_by_key(_values(tree)),
        writes=_by_key(_writes(tree)),
    )
    owners = {
        id(method): owner.name
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for method in owner.body
    }
    found: dict[int, Scope] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and not left_alone(function):
            scope = replace(_of(function, constants, whole), owner=owners.get(id(function), ""))
            found |= {id(node): scope for node in ast.walk(function)}
    return found


def _alike_functions(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    counts = {node.name: len(node.args.args) for node in tree.body if isinstance(node, ast.FunctionDef)}
    return {
        name: tuple(other for other, as_many in counts.items() if as_many == count and other != name)
        for name, count in counts.items()
    }


def _keys(tree: ast.Module) -> tuple[str, ...]:
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str) and _KEY.fullmatch(text)))


def _arguments(tree: ast.Module) -> Iterator[tuple[tuple[str, int], str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for at, one in enumerate(node.args):
                yield (name_of(node.func), at), ast.unparse(one)


def _values(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield ast.unparse(node.targets[0]), ast.unparse(node.value)


def _writes(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef):
            for node in ast.walk(owner):
                if isinstance(node, ast.Assign | ast.Expr | ast.AugAssign | ast.Delete):
                    if (text := ast.unparse(node)).startswith(("self.", "del self.")) and "\n" not in text:
                        yield owner.name, text


_Key = TypeVar("_Key")


def _by_key(pairs: Iterable[tuple[_Key, str]]) -> dict[_Key, tuple[str, ...]]:
    found: dict[_Key, dict[str, None]] = {}
    for key, text in pairs:
        found.setdefault(key, {})[text] = None
    return {key: tuple(texts) for key, texts in found.items()}


def _of(function: ast.FunctionDef, constants: Sequence[str], whole: Scope) -> Scope:
    told = function.args
    names = [arg.arg for arg in (*told.posonlyargs, *told.args, *told.kwonlyargs)]
    inside = list(ast.walk(function))
    names += [node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    indices = [ast.unparse(node.slice) for node in inside if isinstance(node, ast.Subscript)]
    return replace(
        whole,
        names=tuple(dict.fromkeys([*(name for name in names if name != "self"), *constants])),
        indices=tuple(dict.fromkeys(indices)),
    )


def _assigned(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def nearest(name: str, among: Sequence[str], most: int) -> list[str]:
    """The other names that are most like one, by what they begin and end with.

    Args:
        name: It.
        among: All names.
        most: How many at most.
    """
    return sorted((other for other in among if other != name), key=lambda other: -_alike(name, other))[:most]


def _alike(name: str, other: str) -> float:
    longest = max(len(name), len(other))
    return max(_shared(name, other), _shared(name[::-1], other[::-1])) / longest


def _shared(one: str, two: str) -> int:
    pairs = zip(one, two, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(two)))
