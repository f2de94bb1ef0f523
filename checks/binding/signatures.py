"""How a signature may be called with what a role takes: by the names of its parameters, else in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.calling.binding import Argument
from judge_tui.checks.contract import Param, Role

__all__ = ["RATE", "Packed", "arguments", "only_place", "ways"]

#: Parameter that is a dict or an object of several → how it is made.
Packed = Mapping[str, Argument]

_MOST_CONTAINERS = 3
#: Stands for a parameter whose default stays.
_DEFAULT = Argument("")


def ways(
    params: Sequence[Mapping[str, Any]],
    role: Role,
    *,
    lacking: bool = False,
    packed: Packed | None = None,
    containers: Sequence[str] = (),
) -> Iterator[tuple[tuple[Argument, ...], float]]:
    """Ways to call a signature: as it is, turned, with a container that it fills, and with dicts.

    Args:
        params: The signature.
        role: What it may play.
        lacking: As in :func:`arguments`.
        packed: As in :func:`arguments`.
        containers: Classes of the submission's own whose objects a call may fill, as ``file.py:Class``.

    Yields:
        Arguments, and how unsure they are.
    """
    owned = any(_filled_by_call(param["name"], role) for param in params)
    own = [(form, 0.02 + 0.01 * index) for index, form in enumerate(containers[:_MOST_CONTAINERS])]
    for form, unsure in (("", 0.0), *own, ("dict", 0.06), ("list", 0.1)):
        if form and not owned:
            break
        if called := arguments(params, role, lacking=lacking, container=form):
            yield called[0], called[1] + unsure
    if called := _turned(params, role, lacking):
        yield called[0], called[1] + 0.3
    if role.by_parameters and (called := _spread(params, role)):
        yield called[0], called[1] + 0.3
    if packed and (called := arguments(params, role, lacking=lacking, container="dict", packed=packed)):
        # A class of the submission's own that holds settings says what they are; a dict's keys are read off.
        yield called[0], called[1] + (-0.1 if all(each.made for each in packed.values()) else 0.2)


def only_place(
    params: Sequence[Mapping[str, Any]], role: Role
) -> Iterator[tuple[tuple[Argument, ...], float]]:
    """The way to call a method whose one place no name tells: it takes what the role takes first.

    Args:
        params: The signature.
        role: What its name says that it plays.

    Yields:
        Its argument, and how unsure that is.
    """
    places = [p for p in params if "default" not in p and not p["kind"].startswith("VAR_")]
    if len(places) == 1 and places[0]["kind"] != "KEYWORD_ONLY":
        yield (Argument(role.params[0].name),), 2.0


def _filled_by_call(name: str, role: Role) -> str:
    """The handle that a role gives and a parameter is named after, where the role takes no such thing."""
    if any(param.means(name) for param in role.params):
        return ""
    return next((item.name for item in role.returns if item.kind == "handle" and item.means(name)), "")


def arguments(
    params: Sequence[Mapping[str, Any]],
    role: Role,
    *,
    lacking: bool = False,
    container: str = "",
    packed: Packed | None = None,
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
    """
    named = _named(params, role, container, packed or {})
    untold = named.untold(role, lacking)
    return None if untold is None else (named.filled(untold), 2.0 * len(untold))


def _turned(
    params: Sequence[Mapping[str, Any]], role: Role, lacking: bool
) -> tuple[tuple[Argument, ...], float] | None:
    """The same with an array and an object that no name tells apart the other way round."""
    named = _named(params, role, "", {})
    untold = named.untold(role, lacking)
    if untold is None or {p.kind for p in untold} != {"array", "handle"} or len(untold) != 2:
        return None
    return named.filled(untold[::-1]), 2.0 * len(untold)


def _spread(params: Sequence[Mapping[str, Any]], role: Role) -> tuple[tuple[Argument, ...], float] | None:
    """The same where ``*args`` take what is left, in the contract's order."""
    named = _named(params, role, "", {})
    free = [p for p in role.params if p.name not in named.used | named.held and p.required]
    open_ = any(p["kind"] == "VAR_POSITIONAL" for p in params)
    if not open_ or len(free) <= named.args.count(None) or _DEFAULT in named.args:
        return None
    places = named.args.count(None)
    args = named.filled(free[:places])
    if any(argument.keyword for argument in args):
        return None
    return (*args, *(Argument(p.name) for p in free[places:])), 2.0 * len(free)


@dataclass(frozen=True, slots=True)
class _Named:
    """A signature as far as its names tell.

    Attributes:
        params: Its parameters, but for ``*args`` and ``**kwargs``.
        args: What each takes: :data:`_DEFAULT` where that stays, ``None`` where no name tells.
        spread: What its ``**kwargs`` take.
        used: The role's parameters that these hand over.
        held: Those that objects among them hold, which a call may be told by name as well.
    """

    params: list[Mapping[str, Any]]
    args: list[Argument | None]
    spread: list[Argument]
    used: set[str]
    held: set[str]

    def untold(self, role: Role, lacking: bool) -> list[Param] | None:
        """What the places that no name tells take; ``None`` where too little or too much is left for them."""
        open_ = [place for place, told in enumerate(self.args) if told is None]
        left = [p for p in role.params if p.name not in self.used | self.held and not p.named]
        # A constructor's unknown parameter is taken for a size, never for an array.
        free = [p for p in left if p.required or not role.strict]
        free = [p for p in free if p.kind == "int"] if lacking else free
        if len(open_) == len(free) + 1 and (extra := self._left_over(open_, left)):
            free.insert(open_.index(extra[0]), extra[1])
        untold, rest = free[: len(open_)], free[len(open_) :]
        short = len(open_) > len(free) or (not lacking and any(p.required for p in rest))
        odd = (p.unlike and re.search(p.unlike, self.name(at)) for at, p in zip(open_, untold, strict=False))
        return None if short or any(odd) else untold

    def name(self, place: int) -> str:
        """What the submission calls a place."""
        return str(self.params[place]["name"])

    def _left_over(self, open_: list[int], left: list[Param]) -> tuple[int, Param] | None:
        """The one place more than there is anything for, where its name makes likely what it takes."""
        found = (
            (place, p) for p in left if p.likely for place in open_ if re.search(p.likely, self.name(place))
        )
        return next(found, None)

    def filled(self, untold: list[Param]) -> tuple[Argument, ...]:
        """Every argument, by keyword from the first default on: from there positions do not line up."""
        rest, by_name, args = iter(untold), False, []
        for param, told in zip(self.params, self.args, strict=True):
            by_name = by_name or told is _DEFAULT or param["kind"] == "KEYWORD_ONLY"
            if told is not _DEFAULT:
                argument = told or Argument(next(rest).name)
                args.append(replace(argument, keyword=param["name"] if by_name else ""))
        return (*args, *self.spread)


def _named(params: Sequence[Mapping[str, Any]], role: Role, container: str, packed: Packed) -> _Named:
    named = _Named([], [], [], set(), set())
    for param in params:
        if param["kind"] == "VAR_KEYWORD" and param["name"] in packed:
            named.spread.extend(Argument(source, key) for key, source in packed[param["name"]].parts)
            named.used.update(argument.source for argument in named.spread)
        if param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        told = _told(param, role, named.used, container, packed)
        named.params.append(param)
        named.args.append(told)
        if told is not None:
            (named.held if told.parts else named.used).update(told.sources)
    return named


#: How fast a call that updates what it is called on learns.
RATE = re.compile(r"(?i)lr|l_?rate|learning_?rate|eta|step_?size")
#: Shares of numbers that are set to 0 at random, and of those that are not.
_DROPPED = re.compile(r"(?i)((\w+_)?p_?)?(\w+_)?drop(out|path)?(_?(p|rate|prob|ratio|probability))?")
_KEPT = re.compile(r"(?i)(p_?keep|keep_?(p|prob|rate|ratio|probability))")


def _told(
    param: Mapping[str, Any], role: Role, used: set[str], container: str, packed: Packed
) -> Argument | None:
    """What the name of one parameter tells of what it takes."""
    name = param["name"]
    match = next((p for p in role.params if p.means(name) and p.name not in used), None)
    # ``bias=True`` asks whether there is one, and is no place for an array.
    switch = match is not None and match.kind == "array" and isinstance(param.get("default"), bool)
    if match is not None and not switch and not (match.spare and "default" in param):
        return Argument(match.name, form="type" if match.kind == "dtype" else "")
    if container and (place := _filled_by_call(name, role)):
        return Argument(place, form=container)
    if name in packed:
        return packed[name]
    if (still := _at_rest(param)) is not None:
        return Argument("", literal=still)
    return _DEFAULT if "default" in param else None


def _at_rest(param: Mapping[str, Any]) -> float | None:
    """What a setting must be so that a call drops and learns nothing; ``None`` for other parameters."""
    default = param.get("default", 0.5)
    if not isinstance(default, float) or default <= 0.0:
        return None
    if RATE.fullmatch(param["name"]):
        return 0.0
    if default < 1.0 and _DROPPED.fullmatch(param["name"]):
        return 0.0
    return 1.0 if default < 1.0 and _KEPT.fullmatch(param["name"]) else None
