"""Parameters that come as one dict or object: ``params["gamma"]``, ``config.eps``, ``Config(eps=1e-5)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judge_tui.checks.calling.binding import Argument
from judge_tui.checks.contract import Param, Role, normal
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import Submission

__all__ = ["containers", "pack", "packs", "read_keys", "settings"]

_NAMES = frozenset({
    "params", "parameters", "param", "weights", "p", "theta", "config", "cfg", "settings", "options", "opts",
    "hparams", "hyper", "hyperparams", "lnparam", "lnparams", "layerparams", "attnparams",
    "kwargs", "kw",
})  # fmt: skip
#: Classes of settings.
_SETTINGS = re.compile(
    r"(config|cfg|conf|settings|options|opts|hparams|hyper_?param\w*|args|params|spec)$", re.I
)
#: Classes of what a forward leaves for its backward.
_CONTAINERS = re.compile(r"(context|ctx|cache|tape|saved|residuals?|memo|store|state|stash)$", re.I)
#: What settings hold: an array is handed over by itself.
_PLAIN = frozenset({"int", "float", "bool", "dtype"})
_TYPE_NAME = re.compile(r"float(16|32|64)$")
#: How a default that is a NumPy type is told.
_TYPE = re.compile(r"<class 'numpy\.float(16|32|64)'>$")
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
    keys = read_keys(submission, file, name)
    rest = [p for p in role.params if p.kind != "handle" and not any(p.means(q["name"]) for q in params)]
    return tuple((key, p.name) for key in keys if key.isidentifier() for p in rest if p.means(key))


def read_keys(submission: Submission, file: str, name: str) -> tuple[str, ...]:
    """What the source of a file reads from variables of a name, by key or as an attribute.

    Args:
        submission: For its source.
        file: Relative path.
        name: The variables'.
    """
    try:
        return tuple(dict.fromkeys(_keys(parsed(submission.read_bytes(file)), name)))
    except SyntaxError:
        return ()


def settings(
    loaded: Mapping[str, Mapping[str, Any]],
    params: Sequence[Mapping[str, Any]],
    role: Role,
    *,
    also: Sequence[Param] = (),
) -> dict[str, Argument]:
    """Parameter → the object of a class of settings that it wants, made of what the role takes.

    The annotation names the class, or both are called after settings. What no name tells keeps its default.

    Args:
        loaded: File → inventory.
        params: The callable's signature.
        role: What is looked for.
        also: What such an object may be told beside what the role takes.
    """
    takes = [p for p in (*role.params, *also) if p.kind in _PLAIN]
    found = {}
    for param in params:
        if param["kind"].startswith("VAR_") or any(p.means(param["name"]) for p in role.params):
            continue
        made = (_made(file, cls, takes) for file, cls in _wanted(loaded, param))
        if argument := next(filter(None, made), None):
            found[str(param["name"])] = argument
    return found


def _wanted(
    loaded: Mapping[str, Mapping[str, Any]], param: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    """Classes of settings that a parameter may want, those first that its annotation names."""
    noted = {word for word in re.findall(r"\w+", str(param.get("annotation", ""))) if _SETTINGS.search(word)}
    named = _SETTINGS.search(param["name"]) is not None
    if not noted and not named:
        # of tens of thousands of parameters, next to none wants an object of settings
        return []
    classes = [
        (file, cls)
        for file, inventory in loaded.items()
        for cls in inventory.get("classes", ())
        if cls["name"] in noted or (named and _SETTINGS.search(cls["name"]))
        if cls["params"] is not None
    ]
    return sorted(classes, key=lambda each: each[1]["name"] not in noted)


def containers(loaded: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Classes named after what a forward keeps for its backward that are made without arguments."""
    return tuple(
        f"{file}:{cls['name']}"
        for file, inventory in loaded.items()
        for cls in inventory.get("classes", ())
        if _CONTAINERS.search(cls["name"]) and all("default" in param for param in cls["params"] or ())
    )


def _made(file: str, cls: Mapping[str, Any], takes: Sequence[Param]) -> Argument | None:
    """An object of a class of settings; ``None`` where it needs more than it can be told."""
    parts = []
    for field in cls["params"]:
        match = next((p for p in takes if p.means(field["name"])), None)
        form = None if match is None or (match.spare and "default" in field) else _form(field, match)
        if match is not None and form is not None:
            parts.append((str(field["name"]), form + match.name))
        elif "default" not in field and not field["kind"].startswith("VAR_"):
            return None
    return Argument("", parts=tuple(parts), made=f"{file}:{cls['name']}") if parts else None


def _form(field: Mapping[str, Any], param: Param) -> str | None:
    """The form in which a field is told; ``None`` for a type whose default is none that is known."""
    if param.kind != "dtype" or "default" not in field:
        return "type:" if param.kind == "dtype" else ""
    default = str(field["default"])
    return "" if _TYPE_NAME.match(default) else "type:" if _TYPE.match(default) else None


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
