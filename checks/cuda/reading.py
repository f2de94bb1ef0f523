"""What a CUDA source defines: kernels, host functions, parameters, launches, instantiations, constants."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_tui.checks.cuda.constants import Constants, integer
from judge_tui.checks.cuda.declarations import (
    call_arguments,
    function_declarator,
    members,
    parameters,
    template_parameters,
    templated,
)
from judge_tui.checks.cuda.definitions import (
    Call,
    Function,
    Kind,
    Launch,
    Members,
    TemplateParameter,
    named,
    spread,
)
from judge_tui.checks.cuda.grammar import parse, text_of
from judge_tui.checks.cuda.repairs import lines_in_front

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = ["Reading", "read"]

_MACRO_CALL = re.compile(r"([A-Za-z_]\w*)\s*<([^<>;{}]*)>\s*(?:<<<|\()")
_BODY = 20_000
#: A type that needs no declaration.
_PLAIN_TYPE = re.compile(
    r"(?:(?:std::)?u?int(?:8|16|32|64)_t|(?:std::)?size_t|(?:unsigned |signed |long |short )*"
    r"(?:int|long|short|char|float|double|bool|unsigned))$"
)


@dataclass(slots=True)
class Reading:
    """What the sources of a submission define.

    Attributes:
        functions: In order of file and line.
        launches: Every launch.
        calls: Calls of templates and of macros, and explicit instantiations (``within`` is empty).
        constants: Integer constants, by name.
        macros: Function-like macro → its text.
        includes: File → what it includes, as (text with its marks, 1-based line).
        structs: Structs of plain members, by name with namespaces.
    """

    functions: list[Function] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    constants: Constants = field(default_factory=dict)
    macros: dict[str, str] = field(default_factory=dict)
    includes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    structs: dict[str, Members] = field(default_factory=dict)

    @property
    def kernels(self) -> list[Function]:
        """Its kernels."""
        return [each for each in self.functions if each.kind == "kernel"]

    @property
    def hosts(self) -> list[Function]:
        """Its host functions, methods and ``main`` left out."""
        return [f for f in self.functions if f.kind == "host" and not f.method and f.short != "main"]

    def offered(self, function: Function, name: str) -> tuple[int, ...]:
        """Values that the code gives to an integer template parameter: instantiations, calls, launches.

        Args:
            function: Of the template.
            name: The parameter.
        """
        return tuple(sorted(self._offered(function, name, frozenset())))

    def _offered(self, function: Function, name: str, seen: frozenset[str]) -> set[int]:
        names = [each.name for each in function.template]
        if name not in names or function.short in seen:
            return set()
        index, seen = names.index(name), seen | {function.short}
        values: set[int] = set()
        for used, within in self._uses(function.short):
            text = used[index] if index < len(used) else function.template[index].default
            value = integer(text, self.constants)
            if value is not None:
                values.add(value)
                continue
            values.update(self._through_macros(function.short, text))
            # handed on by another template, as its own parameter
            for user in named(self.functions, within):
                values |= self._offered(user, text, seen)
        return values

    def given(self, function: Function, name: str) -> tuple[str, ...]:
        """What the code writes for a template parameter where it uses the template, as written.

        Args:
            function: Of the template.
            name: The parameter.
        """
        index = [each.name for each in function.template].index(name)
        return tuple(used[index] for used, _within in self._uses(function.short) if index < len(used))

    def instances(self, function: Function) -> tuple[tuple[int, ...], ...]:
        """Template arguments that the code instantiates a function with, as whole lists of integers.

        Args:
            function: Of the template; its parameters must all be integers.
        """
        found: set[tuple[int, ...]] = set()
        for used, _within in self._uses(function.short):
            texts = [used[i] if i < len(used) else p.default for i, p in enumerate(function.template)]
            values = [integer(text, self.constants) for text in texts]
            if None not in values:
                found.add(tuple(value for value in values if value is not None))
        if not found and all(p.type != "typename" for p in function.template):
            found = set(itertools.product(*(self.offered(function, p.name) for p in function.template)))
        return tuple(sorted(found))

    def launched_with(self, function: Function) -> list[tuple[str, ...]]:
        """Template arguments of its launches that mean the same everywhere: numbers and plain types.

        Args:
            function: A kernel.
        """
        found = {
            each.template: None
            for each in self.launches
            if each.template
            and each.kernel.rpartition("::")[2] == function.short
            and all(
                integer(text, self.constants) is not None or _PLAIN_TYPE.match(text) for text in each.template
            )
        }
        return list(found)

    def _uses(self, short: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Template arguments that a template is used with, and in which function."""
        uses = [(call.name, call.template, call.within) for call in self.calls]
        uses += [(launch.kernel, launch.template, launch.within) for launch in self.launches]
        for called, template, within in uses:
            if called.rpartition("::")[2] == short:
                yield template, within
        for text in self.macros.values():
            for name, arguments in _MACRO_CALL.findall(text):
                if name == short:
                    yield tuple(part.strip() for part in arguments.split(",")), ""

    def _through_macros(self, short: str, text: str) -> Iterator[int]:
        """Integers that are handed to macros whose text uses a template."""
        if not text.isidentifier():
            return
        users = {name for name, body in self.macros.items() if re.search(rf"\b{re.escape(short)}\s*<", body)}
        for call in self.calls:
            if call.name in users:
                for argument in call.args:
                    value = integer(argument, self.constants)
                    if value is not None:
                        yield value


def read(files: Mapping[str, bytes]) -> Reading:
    """Read sources.

    Args:
        files: Relative name → content.

    Raises:
        Skipped: The grammar is not installed, or a source too large for it.
    """
    found = Reading()
    for file, source in files.items():
        _File(file, found, lines_in_front(source)).walk(parse(source))
    found.functions = [spread(each, found.structs) for each in found.functions]
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a file a node stands."""

    namespace: str = ""
    template: tuple[TemplateParameter, ...] = ()
    method: bool = False
    within: str = ""


class _File:
    """One file's walk; without recursion, for the tree may be deep.

    Args:
        file: Its name.
        found: What is added to.
        before: Lines that stand in front of its own first one.
    """

    def __init__(self, file: str, found: Reading, before: int) -> None:
        self.file = file
        self.found = found
        self.first = 1 - before
        self.stack: list[tuple[Node, _Place]] = []

    def walk(self, root: Node) -> None:
        self.stack.append((root, _Place()))
        while self.stack:
            node, place = self.stack.pop()
            place = self._entered(node, place)
            self.stack += [(child, place) for child in reversed(node.children)]

    def _entered(self, node: Node, place: _Place) -> _Place:
        """Take in what a node says; where its children stand."""
        match node.type:
            case "namespace_definition":
                name = text_of(node.child_by_field_name("name"))
                return _Place(f"{place.namespace}{name}::" if name else place.namespace)
            case "template_declaration":
                template = tuple(template_parameters(node.child_by_field_name("parameters")))
                return _Place(place.namespace, template, place.method, place.within)
            case "struct_specifier" | "class_specifier":
                name = text_of(node.child_by_field_name("name")) or _alias(node)
                of_types = all(each.type == "typename" for each in place.template)
                if name and of_types and (held := members(node.child_by_field_name("body"))):
                    types = tuple(each.name for each in place.template)
                    self.found.structs[place.namespace + name] = Members(held, types)
                return _Place(f"{place.namespace}{name}::", (), True, place.within)
            case "function_definition":
                function = self._function(node, place)
                if function is not None:
                    self.found.functions.append(function)
                    return _Place(place.namespace, (), place.method, function.name)
            case "template_instantiation":
                self._call(node, node.child_by_field_name("declarator"), _Place())
            case "call_expression":
                self._called(node, place)
            case "preproc_def" | "enumerator":
                self._constant(node)
            case "init_declarator" if _is_constant(node.parent):
                self._constant(node)
            case "preproc_function_def":
                name = text_of(node.child_by_field_name("name"))
                self.found.macros[name] = text_of(node.child_by_field_name("value")).replace("\\\n", "\n")
            case "preproc_include":
                path = text_of(node.child_by_field_name("path"))
                self.found.includes.setdefault(self.file, []).append((path, self._line(node)))
        return place

    def _function(self, node: Node, place: _Place) -> Function | None:
        declarator = function_declarator(node.child_by_field_name("declarator"))
        if declarator is None:
            return None
        name = text_of(declarator.child_by_field_name("declarator"))
        specifiers = {child.type for child in node.children}
        static = any(text_of(c) == "static" for c in node.children if c.type == "storage_class_specifier")
        device = "__device__" in specifiers
        kind: Kind = "kernel" if "__global__" in specifiers else "device" if device else "host"
        bounds = next((child for child in node.children if child.type == "launch_bounds"), None)
        return Function(
            place.namespace + name,
            kind,
            tuple(parameters(declarator.child_by_field_name("parameters"))),
            place.template,
            text_of(node.child_by_field_name("type")) or "void",
            self.file,
            self._line(declarator),
            node.end_point[0] + self.first,
            tuple(text_of(child) for child in bounds.named_children) if bounds else (),
            text_of(node.child_by_field_name("body"))[:_BODY],
            place.method and not static,
        )

    def _called(self, node: Node, place: _Place) -> None:
        called = node.child_by_field_name("function")
        configuration = next((child for child in node.children if child.type == "kernel_call_syntax"), None)
        if configuration is None:
            self._call(node, called, place)
            return
        name, template = templated(called)
        self.found.launches.append(
            Launch(
                name,
                template,
                tuple(text_of(child) for child in configuration.named_children),
                tuple(call_arguments(node.child_by_field_name("arguments"))),
                self.file,
                self._line(node),
                place.within,
            )
        )

    def _call(self, node: Node, called: Node | None, place: _Place) -> None:
        declarator = function_declarator(called)
        if declarator is not None:
            called = declarator.child_by_field_name("declarator")
        name, template = templated(called)
        if name:
            arguments = tuple(call_arguments(node.child_by_field_name("arguments")))
            line = self._line(node)
            self.found.calls.append(Call(name, template, arguments, self.file, line, place.within))

    def _line(self, node: Node) -> int:
        """The line of a node in the file as submitted; what a repair put in front counts as its first."""
        return max(1, int(node.start_point[0]) + self.first)

    def _constant(self, node: Node) -> None:
        name = text_of(node.child_by_field_name("name") or node.child_by_field_name("declarator"))
        value = text_of(node.child_by_field_name("value"))
        if name.isidentifier() and value and name not in self.found.constants:
            self.found.constants[name] = value


def _alias(struct: Node) -> str:
    """The name that a typedef gives to a struct without one."""
    parent = struct.parent
    named = parent is not None and parent.type == "type_definition"
    return text_of(parent.child_by_field_name("declarator")) if parent is not None and named else ""


def _is_constant(declaration: Node | None) -> bool:
    words = {text_of(child) for child in declaration.children} if declaration is not None else set()
    return bool(words & {"const", "constexpr"})
