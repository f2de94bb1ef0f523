"""What a CUDA source defines and does, as values: functions with their parameters, launches, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

__all__ = [
    "Call",
    "Function",
    "Kind",
    "Launch",
    "Members",
    "Parameter",
    "Struct",
    "TemplateParameter",
    "named",
    "spread",
]

Kind = Literal["kernel", "device", "host"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A function's parameter.

    Attributes:
        type: Its type without qualifiers and pointers (``float``, ``int64_t``, ``cudaStream_t``, ``T``).
        name: Its name; may be empty.
        pointers: Levels of indirection, arrays and references included.
        const: Whether what it points to is const.
        default: Text of its default; empty for none.
    """

    type: str
    name: str
    pointers: int = 0
    const: bool = False
    default: str = ""

    def __str__(self) -> str:
        return f"{'const ' * self.const}{self.type}{'*' * self.pointers} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A template's parameter: ``type`` is ``typename`` for types."""

    type: str
    name: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """What a struct holds.

    Attributes:
        parameters: Its members.
        template: Names of the types that it is a template on.
    """

    parameters: tuple[Parameter, ...]
    template: tuple[str, ...] = ()

    def filled(self, given: str) -> tuple[Parameter, ...]:
        """The members with the types of a template, as they are written between the angle brackets."""
        types = dict(zip(self.template, (part.strip() for part in given.split(",")), strict=False))
        return tuple(replace(each, type=types.get(each.type, each.type)) for each in self.parameters)


@dataclass(frozen=True, slots=True)
class Struct:
    """A parameter that is a struct of plain members, which stand in its place among the parameters.

    Attributes:
        name: With its namespaces, and what a template is filled with.
        start: Number of the parameter that its first member is.
        count: How many members it has.
    """

    name: str
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a source defines.

    Attributes:
        name: With its namespaces, ``fused::launch``.
        kind: Kernel, device (also for the host) or host function.
        parameters: In order; the members of a struct that holds pointers stand in its place.
        template: Template parameters, in order; empty for a plain function.
        returns: Type of its result, as written.
        file: Relative to the submission's folder.
        line: 1-based, of its name.
        end_line: 1-based.
        bounds: Arguments of ``__launch_bounds__``, as written.
        body: Its text, the first 20,000 characters.
        method: Whether it is called on an object; a class's static function is not.
        structs: Parameters that are structs, in order.
    """

    name: str
    kind: Kind
    parameters: tuple[Parameter, ...]
    template: tuple[TemplateParameter, ...] = ()
    returns: str = "void"
    file: str = ""
    line: int = 0
    end_line: int = 0
    bounds: tuple[str, ...] = ()
    body: str = ""
    method: bool = False
    structs: tuple[Struct, ...] = ()

    @property
    def short(self) -> str:
        """Its name without namespaces."""
        return self.name.rpartition("::")[2]

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return self.end_line - self.line + 1


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel launch ``kernel<template><<<grid, block, shared, stream>>>(args)``, every part as written."""

    kernel: str
    template: tuple[str, ...]
    configuration: tuple[str, ...]
    args: tuple[str, ...]
    file: str
    line: int
    within: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call, or explicit instantiation, of a template with its arguments, as written."""

    name: str
    template: tuple[str, ...]
    args: tuple[str, ...]
    file: str
    line: int
    within: str = ""


def named(functions: Sequence[Function], name: str) -> list[Function]:
    """Functions of a name, with or without its namespaces."""
    return [each for each in functions if name and name in (each.name, each.short)]


def spread(function: Function, structs: Mapping[str, Members]) -> Function:
    """A function with the members of its structs in their places, where they hold pointers.

    Args:
        function: As it is written.
        structs: Name, with namespaces → members of structs that have nothing else.
    """
    parameters: list[Parameter] = []
    found: list[Struct] = []
    for each in function.parameters:
        base, _, given = each.type.removesuffix(">").partition("<")
        name = next((full for full in structs if base in (full, full.rpartition("::")[2])), "")
        members = structs[name].filled(given) if name else ()
        if each.pointers > 1 or not any(member.pointers for member in members):
            parameters.append(each)
            continue
        found.append(Struct(name + each.type[len(base) :], len(parameters), len(members)))
        parameters += members
    return replace(function, parameters=tuple(parameters), structs=tuple(found)) if found else function
