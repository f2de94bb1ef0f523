"""Parameters that come as one dict or object: ``params["gamma"]``, ``config.eps``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judge_tui.checks.contract import Role, normal
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import Submission

__all__ = ["pack", "packs"]

_NAMES = frozenset({
    "params", "parameters", "param", "weights", "p", "theta", "config", "cfg", "settings", "options", "opts",
    "hparams", "hyper", "hyperparams", "lnparam", "lnparams", "layerparams", "attnparams",
    "kwargs", "kw",
})  # fmt: skip
_READERS = frozenset({"get", "pop", "setdefault"})


def packs(name: str, role: Role) -> bool:
    """Whether a parameter is named like a dict of parameters or settings, and like none of the role's own."""
    return normal(name) in _NAMES and not any(param.means(name) for param in role.params)


def pack(
    submission: Submission, file: str, name: str, params: Sequence[Mapping[str, Any]], role: Role
) -> tuple[tuple[str, str], ...]:
    """Key → canonical parameter: what the source reads from a dict and no other parameter takes.

    Args:
        submission: For its source.
        file: Where the callable is.
        name: The dict's name.
        params: The callable's signature.
        role: What is looked for.
    """
    try:
        keys = dict.fromkeys(_keys(parsed(submission.read_bytes(file)), name))
    except SyntaxError:
        return ()
    rest = [p for p in role.params if p.kind != "handle" and not any(p.means(q["name"]) for q in params)]
    return tuple((key, p.name) for key in keys if key.isidentifier() for p in rest if p.means(key))


def _keys(tree: ast.Module, name: str) -> Iterator[str]:
    """Keys and attributes that are read from variables of a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and _is(node.value, name):
            yield from _text(node.slice)
        elif isinstance(node, ast.Attribute) and _is(node.value, name) and node.attr not in _READERS:
            yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in _READERS and _is(node.func.value, name):
                yield from _text(node.args[0])


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _text(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
