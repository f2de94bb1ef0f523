"""What a CUDA source defines: kernels, host functions, parameters, launches, instantiations, constants."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from judge_tui.checks.cuda.constants import Constants, integer
from judge_tui.checks.cuda.grammar import children, parse, text_of

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = ["Call", "Function", "Launch", "Parameter", "Reading", "TemplateParameter", "named", "read"]

Kind = Literal["kernel", "device", "host"]

_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|__grid_constant__|struct)\b")
_MACRO_CALL = re.compile(r"([A-Za-z_]\w*)\s*<([^<>;{}]*)>\s*(?:<<<|\()")
_BODY = 20_000


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
class Function:
    """A function that a source defines.

    Attributes:
        name: With its namespaces, ``fused::launch``.
        kind: Kernel, device (also for the host) or host function.
        parameters: In order.
        template: Template parameters, in order; empty for a plain function.
        returns: Type of its result, as written.
        file: Relative to the submission's folder.
        line: 1-based, of its name.
        end_line: 1-based.
        bounds: Arguments of ``__launch_bounds__``, as written.
        body: Its text, the first 20,000 characters.
        method: Whether it is called on an object; a class's static function is not.
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
    """

    functions: list[Function] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    constants: Constants = field(default_factory=dict)
    macros: dict[str, str] = field(default_factory=dict)
    includes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

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
        _File(file, found).walk(parse(source))
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a file a node stands."""

    namespace: str = ""
    template: tuple[TemplateParameter, ...] = ()
    method: bool = False
    within: str = ""


class _File:
    """One file's walk; without recursion, for the tree may be deep."""

    def __init__(self, file: str, found: Reading) -> None:
        self.file = file
        self.found = found
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
                parameters = tuple(_template(node.child_by_field_name("parameters")))
                return _Place(place.namespace, parameters, place.method, place.within)
            case "struct_specifier" | "class_specifier":
                name = text_of(node.child_by_field_name("name"))
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
                self.found.includes.setdefault(self.file, []).append((path, node.start_point[0] + 1))
        return place

    def _function(self, node: Node, place: _Place) -> Function | None:
        declarator = _function_declarator(node.child_by_field_name("declarator"))
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
            tuple(_parameters(declarator.child_by_field_name("parameters"))),
            place.template,
            text_of(node.child_by_field_name("type")) or "void",
            self.file,
            declarator.start_point[0] + 1,
            node.end_point[0] + 1,
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
        name, template = _templated(called)
        self.found.launches.append(
            Launch(
                name,
                template,
                tuple(text_of(child) for child in configuration.named_children),
                tuple(_arguments(node.child_by_field_name("arguments"))),
                self.file,
                node.start_point[0] + 1,
                place.within,
            )
        )

    def _call(self, node: Node, called: Node | None, place: _Place) -> None:
        declarator = _function_declarator(called)
        if declarator is not None:
            called = declarator.child_by_field_name("declarator")
        name, template = _templated(called)
        if name:
            arguments = tuple(_arguments(node.child_by_field_name("arguments")))
            line = node.start_point[0] + 1
            self.found.calls.append(Call(name, template, arguments, self.file, line, place.within))

    def _constant(self, node: Node) -> None:
        name = text_of(node.child_by_field_name("name") or node.child_by_field_name("declarator"))
        value = text_of(node.child_by_field_name("value"))
        if name.isidentifier() and value and name not in self.found.constants:
            self.found.constants[name] = value


def _is_constant(declaration: Node | None) -> bool:
    words = {text_of(child) for child in declaration.children} if declaration is not None else set()
    return bool(words & {"const", "constexpr"})


def _templated(called: Node | None) -> tuple[str, tuple[str, ...]]:
    """The name of what is called, and its template arguments."""
    if called is None or called.type in ("field_expression", "parenthesized_expression"):
        return "", ()
    arguments: tuple[str, ...] = ()
    node: Node | None = called
    while node is not None and node.type == "qualified_identifier":
        node = node.child_by_field_name("name")
    if node is not None and node.type == "template_function":
        held = node.child_by_field_name("arguments")
        arguments = tuple(text_of(child) for child in held.named_children) if held else ()
    return text_of(called).partition("<")[0].strip(), arguments


def _arguments(node: Node | None) -> Iterator[str]:
    for child in node.named_children if node is not None else ():
        if child.type != "comment":
            yield text_of(child)


def _template(node: Node | None) -> Iterator[TemplateParameter]:
    for child in node.named_children if node is not None else ():
        if child.type in ("parameter_declaration", "optional_parameter_declaration"):
            default = text_of(child.child_by_field_name("default_value"))
            name = text_of(child.child_by_field_name("declarator"))
            yield TemplateParameter(text_of(child.child_by_field_name("type")), name, default)
        elif child.type in ("type_parameter_declaration", "optional_type_parameter_declaration"):
            name = text_of(child.child_by_field_name("name")) or text_of(
                child.named_children[0] if child.named_children else None
            )
            yield TemplateParameter("typename", name, text_of(child.child_by_field_name("default_type")))


def _parameters(node: Node | None) -> Iterator[Parameter]:
    for child in node.named_children if node is not None else ():
        if child.type not in ("parameter_declaration", "optional_parameter_declaration"):
            continue
        kind = text_of(child.child_by_field_name("type"))
        # a sized type such as "unsigned long long" may stand beside qualifiers
        const = any(text_of(part) == "const" for part in child.children if part.type == "type_qualifier")
        name, pointers = _declared(child.child_by_field_name("declarator"))
        default = text_of(child.child_by_field_name("default_value"))
        yield Parameter(" ".join(_QUALIFIERS.sub(" ", kind).split()), name, pointers, const, default)


def _declared(node: Node | None) -> tuple[str, int]:
    """Name and levels of indirection of a declarator."""
    pointers = 0
    while node is not None and node.type not in ("identifier", "field_identifier", "type_identifier"):
        if "pointer" in node.type or "array" in node.type or "reference" in node.type:
            pointers += 1
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.named_children if c.type != "type_qualifier" and _holds(c)), None)
        node = inner
    return text_of(node), pointers


def _holds(node: Node) -> bool:
    return node.type == "identifier" or node.type.endswith("declarator")


def _function_declarator(node: Node | None) -> Node | None:
    """The part of a declarator that holds a function's name and parameters."""
    for _level in range(8):
        if node is None or node.type == "function_declarator":
            return node
        inner: Iterable[Node] = children(node, "declarator") or node.named_children
        node = next((child for child in inner if child.type.endswith("declarator")), None)
    return None


def named(functions: Sequence[Function], name: str) -> list[Function]:
    """Functions of a name, with or without its namespaces."""
    return [each for each in functions if name and name in (each.name, each.short)]
