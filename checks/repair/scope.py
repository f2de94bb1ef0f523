"""What can be named at a place of a Python source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judge_tui.checks.repair.edit import left_alone

__all__ = ["Scope", "nearest", "scopes"]

#: Modules whose attributes are functions, not state.
_MODULES = frozenset({"np", "numpy", "math", "cp", "cupy"})


@dataclass(frozen=True, slots=True)
class Scope:
    """What can be named in a function.

    Attributes:
        names: Its parameters, what it assigns, and the module's constants.
        attributes: Name of an object → the attributes that the module asks one of that name for.
        indices: Texts of what the function indexes arrays with.
    """

    names: tuple[str, ...] = ()
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    indices: tuple[str, ...] = ()


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
    found: dict[int, Scope] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and not left_alone(function):
            scope = _of(function, constants, attributes)
            found |= {id(node): scope for node in ast.walk(function)}
    return found


def _of(function: ast.FunctionDef, constants: Sequence[str], attributes: dict[str, tuple[str, ...]]) -> Scope:
    told = function.args
    names = [arg.arg for arg in (*told.posonlyargs, *told.args, *told.kwonlyargs)]
    inside = list(ast.walk(function))
    names += [node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    indices = [ast.unparse(node.slice) for node in inside if isinstance(node, ast.Subscript)]
    return Scope(
        tuple(dict.fromkeys([*(name for name in names if name != "self"), *constants])),
        attributes,
        tuple(dict.fromkeys(indices)),
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
