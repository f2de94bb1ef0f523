"""Bindings as they are written in ``submission.toml``: the inverse of ``parse_binding``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_tui.checks.calling.binding import Binding, Source, parse_path

__all__ = ["path_text", "table", "tables"]


def table(binding: Binding) -> dict[str, Any]:
    """A ``[binding.<role>]`` table that is read as this binding.

    Where the binder told answers apart by names alone, they are left to it again.

    Raises:
        ValueError: A key of a path cannot be written.
    """
    told: dict[str, Any] = {"target": binding.target}
    if binding.init is not None:
        told["init"] = [str(argument) for argument in binding.init]
    if binding.attributes:
        told["attributes"] = dict(binding.attributes)
    told |= {name: True for name in ("warm", "in_place") if getattr(binding, name)}
    told["args"] = [str(argument) for argument in binding.args]
    if binding.returns and not binding.misshapen:
        told["returns"] = {name: path_text(source) for name, source in binding.returns.items()}
    for key, value in (("on", binding.on), ("layout", binding.layout), ("model", binding.model)):
        if value:
            told[key] = value
    if binding.patch:
        told["patch"] = dict(binding.patch)
    if binding.launch:
        told["launch"] = dict(binding.launch)
    return told


def path_text(source: Source) -> str:
    """A path that :func:`judge_tui.checks.calling.binding.parse_path` reads back.

    Raises:
        ValueError: A key cannot be written.
    """
    text = {"result": "", "self": "self", "given": "given"}[source.of]
    for kind, key in source.steps:
        text += _step(kind, key)
    if source != (read := parse_path(text)) and not _same(source, read):
        raise ValueError(f"a key in {text!r} cannot be written")
    return text


def _step(kind: str, key: Any) -> str:
    if kind == "i" or (kind == "k" and isinstance(key, int)):
        return f"[{key}]"
    if kind == "k":
        quote = '"' if "'" in str(key) else "'"
        return f"[{quote}{key}{quote}]"
    return f".{key}" if kind == "a" else f"{{{key}}}"


def _same(one: Source, other: Source) -> bool:
    """Whether paths lead to the same place: an integer key is written as an index."""
    plain = [[key for _kind, key in source.steps] for source in (one, other)]
    return one.of == other.of and plain[0] == plain[1]


def tables(found: Mapping[str, Binding]) -> dict[str, dict[str, Any]]:
    """Role → table of the bindings that the binder found itself.

    Raises:
        ValueError: A key of a path cannot be written.
    """
    return {role: table(binding) for role, binding in found.items() if binding.origin == "found"}
