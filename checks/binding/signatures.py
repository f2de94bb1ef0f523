"""How a signature may be called with what a role takes: by the names of its parameters, else in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from judge_tui.checks.binding.binding import Argument
from judge_tui.checks.contract import Param, Role

__all__ = ["Packed", "arguments", "ways"]

#: Parameter that is a dict or an object of several → how it is made.
Packed = Mapping[str, Argument]


def ways(
    params: list[Mapping[str, Any]], role: Role, *, lacking: bool = False, packed: Packed | None = None
) -> Iterator[tuple[tuple[Argument, ...], float]]:
    """Ways to call a signature: as it is, turned, with a container that it fills, and with dicts.

    Args:
        params: The signature.
        role: What it may play.
        lacking: As in :func:`arguments`.
        packed: As in :func:`arguments`.

    Yields:
        Arguments, and how unsure they are.
    """
    owned = any(_filled_by_call(param["name"], role) for param in params)
    for form, unsure in (("", 0.0), ("dict", 0.05), ("list", 0.1)):
        if form and not owned:
            break
        if called := arguments(params, role, lacking=lacking, container=form):
            yield called[0], called[1] + unsure
    if called := arguments(params, role, lacking=lacking, turned=True):
        yield called[0], called[1] + 0.3
    if packed and (called := arguments(params, role, lacking=lacking, container="dict", packed=packed)):
        # A class of the submission's own that holds settings says what they are; a dict's keys are read off.
        yield called[0], called[1] + (-0.1 if all(each.made for each in packed.values()) else 0.2)


def _filled_by_call(name: str, role: Role) -> str:
    """The handle that a role gives and a parameter is named after, where the role takes no such thing."""
    if any(param.means(name) for param in role.params):
        return ""
    return next((item.name for item in role.returns if item.kind == "handle" and item.means(name)), "")


def arguments(
    params: list[Mapping[str, Any]],
    role: Role,
    *,
    lacking: bool = False,
    container: str = "",
    packed: Packed | None = None,
    turned: bool = False,
) -> tuple[tuple[Argument, ...], float] | None:
    """How to call a signature with a role's parameters, and how unsure that is; ``None`` when it cannot be.

    Names decide; what no name tells is filled in the contract's order.

    Args:
        params: The signature.
        role: What it may play.
        lacking: Whether required parameters may be left out: something else supplies them.
        container: Form in which a parameter that is named after what the role gives is handed over, empty;
            ``""`` takes it for any other parameter.
        packed: Parameters that are dicts or objects of several, and how each is made.
        turned: Fill an array and an object that no name tells apart the other way round; nothing else.
    """
    used: set[str] = set()
    args: list[Argument] = []
    unknown = 0
    spread: list[Argument] = []
    for param in params:
        if param["kind"] == "VAR_KEYWORD" and packed and param["name"] in packed:
            spread += [Argument(source, key) for key, source in packed[param["name"]].parts]
            used.update(argument.source for argument in spread)
        if param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        keyword = param["name"] if param["kind"] == "KEYWORD_ONLY" else ""
        match = next((p for p in role.params if p.means(param["name"]) and p.name not in used), None)
        # ``bias=True`` asks whether there is one, and is no place for an array.
        switch = match is not None and match.kind == "array" and isinstance(param.get("default"), bool)
        if match is not None and not switch and not (match.spare and "default" in param):
            used.add(match.name)
            args.append(Argument(match.name, keyword))
        elif container and (place := _filled_by_call(param["name"], role)):
            args.append(Argument(place, keyword, container))
        elif packed and param["name"] in packed:
            args.append(replace(packed[param["name"]], keyword=keyword))
            used.update(args[-1].sources)
        elif "default" not in param:
            unknown += 1
            args.append(Argument("", keyword))
        else:
            # From here on positions no longer line up, so the rest goes by keyword.
            args.append(Argument("", "-"))
    if turned and unknown != 2:
        return None
    if unknown == 0:
        missing = [p for p in role.params if p.required and p.name not in used]
        if missing and not lacking:
            return None
        return (*_keyworded(args, params), *spread), 0.0
    # A constructor's unknown parameter is taken for a size, never for an array.
    free = [p for p in role.params if p.name not in used and (not lacking or p.kind == "int")]
    if unknown > len(free) or (not lacking and any(p.required for p in free[unknown:])):
        return None
    if turned:
        if {free[0].kind, free[1].kind} != {"array", "handle"}:
            return None
        free[:2] = free[1], free[0]
    return (*_filled(args, params, free), *spread), 2.0 * unknown


def _keyworded(args: list[Argument], params: list[Mapping[str, Any]]) -> tuple[Argument, ...]:
    named = [p for p in params if p["kind"] not in ("VAR_POSITIONAL", "VAR_KEYWORD")]
    skipping, result = False, []
    for argument, param in zip(args, named, strict=True):
        if argument.keyword == "-":
            skipping = True
        elif skipping and not argument.keyword:
            result.append(replace(argument, keyword=param["name"]))
        else:
            result.append(argument)
    return tuple(result)


def _filled(args: list[Argument], params: list[Mapping[str, Any]], free: list[Param]) -> tuple[Argument, ...]:
    rest = iter(free)
    filled = [
        a if a.source or a.parts or a.keyword == "-" else replace(a, source=next(rest).name) for a in args
    ]
    return _keyworded(filled, params)
