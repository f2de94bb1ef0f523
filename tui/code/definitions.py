"""Where the names of a submission are defined, and which names a line uses.

Definitions are found in the syntax trees of all its files; run :func:`index` in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from judge_tui.tui.code.highlight import Highlight
from judge_tui.tui.code.scopes import own_names
from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import kinds

__all__ = ["Definition", "Index", "Used", "index", "names_in"]

#: A hostile file has more names than anybody looks up.
_MOST_NODES = 200_000
_MOST_ON_LINE = 4_000
_MOST_FILES = 300
#: Characters at the beginning of a file in which modules are imported.
_MOST_IMPORTS = 20_000
_MOST_BYTES = 8_000_000
#: Functions within each other, the innermost of which are looked at.
_DEEPEST = 50
_WORD = re.compile(r"[^\W\d]\w*")
_NAMES = ("identifier", "field_identifier", "type_identifier", "namespace_identifier", "statement_identifier")
#: Nodes that are gone into below a file: what is within a function is its own.
_OPEN = {
    "module",
    "translation_unit",
    "block",
    "expression_statement",
    "decorated_definition",
    "declaration_list",
    "class_definition",
    "class_specifier",
    "struct_specifier",
    "field_declaration_list",
    "namespace_definition",
    "linkage_specification",
    "template_declaration",
    "if_statement",
    "else_clause",
    "try_statement",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "enum_specifier",
    "enumerator_list",
    "type_definition",
    "declaration",
    "init_declarator",
    "ERROR",
}


class Definition(Struct, frozen=True):
    """Where a name gets its meaning.

    Attributes:
        name: The name.
        kind: ``function``, ``method``, ``class``, ``namespace``, ``constant``, ``macro``, ``attribute`` or
            ``file``.
        file: File of the submission.
        line: 0-based line.
    """

    name: str
    kind: str
    file: str
    line: int


class Used(Struct, frozen=True):
    """A name that a line uses.

    Attributes:
        name: The name.
        member: Whether it stands behind a dot or an arrow.
        within: The modules that it may be a member of.
    """

    name: str
    member: bool = False
    within: frozenset[str] = frozenset()

    def means(self, definition: Definition) -> bool:
        """Whether a definition of the name may be meant."""
        if not self.member:
            return definition.kind != "attribute"
        # a constant of a module is a member of that module alone
        return definition.kind != "constant" or PurePosixPath(definition.file).stem in self.within


class Index:
    """The definitions of a submission, by name."""

    def __init__(self, found: Iterable[Definition]) -> None:
        self._by_name: dict[str, list[Definition]] = {}
        for definition in found:
            self._by_name.setdefault(definition.name, []).append(definition)

    def of(self, used: Sequence[Used], file: str, line: int) -> list[Definition]:
        """Definitions of the names of a line, in their order; those in the same file first, files last."""
        found: dict[Definition, None] = {}
        for one in used:
            known = [
                definition
                for definition in self._by_name.get(one.name, ())
                if one.means(definition) and (definition.file, definition.line) != (file, line)
            ]
            found |= dict.fromkeys(sorted(known, key=lambda d: (d.kind == "file", d.file != file)))
        return list(found)


def index(files: Sequence[str], read: Callable[[str], tuple[Source, Highlight] | None]) -> Index:
    """Look through the files of a submission.

    Args:
        files: Their names.
        read: Gives a file and its syntax, ``None`` for one that is not looked into.
    """
    found: list[Definition] = []
    size = 0
    for file in files[:_MOST_FILES]:
        stem = PurePosixPath(file)
        found += [Definition(name, "file", file, 0) for name in {stem.stem, stem.name}]
        known = read(file) if size < _MOST_BYTES else None
        if known is not None:
            source, highlight = known
            size += len(source.text)
            found += _in_file(file, highlight)
    return Index(found)


def _in_file(file: str, highlight: Highlight) -> Iterator[Definition]:
    told: set[str] = set()
    for symbol, kind in zip(highlight.symbols, kinds(highlight.symbols), strict=True):
        name = symbol.name.rsplit("::", 1)[-1].strip("*& ")
        yield Definition(name, kind, file, symbol.line)
    roots = highlight.syntax.roots() if highlight.syntax is not None else ()
    for kind, node in (found for root in roots for found in _assigned(root)):
        name = _text(node)
        if f"{kind} {name}" not in told:
            # the first assignment makes the name; later ones change it
            told.add(f"{kind} {name}")
            yield Definition(name, kind, file, node.start_point[0])


def _assigned(root: Any) -> Iterator[tuple[str, Any]]:
    """Names that are no functions or classes, in the order of the file, and what they are."""
    stack = [(root, "")]
    visited = 0
    while stack and visited < _MOST_NODES:
        node, place = stack.pop()
        visited += 1
        kind = node.type
        if kind == "assignment":
            yield from _targets(node.child_by_field_name("left"), place)
        elif kind in ("preproc_def", "preproc_function_def"):
            yield "macro", node.child_by_field_name("name")
        elif place != "function" and kind in (
            "init_declarator",
            "enumerator",
            "type_definition",
            "alias_declaration",
        ):
            named = node.child_by_field_name("declarator") or node.child_by_field_name("name")
            if named is not None and named.type in _NAMES:
                yield ("class" if kind in ("type_definition", "alias_declaration") else "constant"), named
        if kind == "function_definition":
            # within a function only what it hangs on its object is seen from elsewhere
            place = "function"
        elif kind == "class_definition" and not place:
            place = "class"
        if place == "function" or kind in _OPEN:
            stack += [(child, place) for child in reversed(node.named_children)]


def _targets(left: Any, place: str) -> Iterator[tuple[str, Any]]:
    if left is None:
        return
    nodes = left.named_children if left.type in ("pattern_list", "tuple_pattern") else [left]
    for node in nodes:
        if node.type == "identifier" and place != "function":
            yield ("attribute" if place == "class" else "constant"), node
        elif node.type == "attribute" and _text(node.child_by_field_name("object")) == "self":
            yield "attribute", node.child_by_field_name("attribute")


def _text(node: Any) -> str:
    return bytes(node.text or b"")[:200].decode("utf-8", "replace") if node is not None else ""


def names_in(source: Source, highlight: Highlight, line: int) -> list[Used]:
    """The names that stand in a line, in order.

    Strings and comments name nothing; parameters and locals of the functions around the line, and
    the names of keyword arguments, mean nothing elsewhere.
    """
    if highlight.syntax is None:
        return [Used(word) for word in dict.fromkeys(_WORD.findall(source.lines[line][:_MOST_ON_LINE]))]
    found: dict[Used, None] = {}
    stack: list[tuple[Any, tuple[frozenset[str], ...]]] = [
        (root, ()) for root in highlight.syntax.roots(line, line)
    ]
    visited = 0
    while stack and visited < _MOST_ON_LINE:
        node, around = stack.pop()
        visited += 1
        if node.type in _NAMES and node.start_point[0] == line:
            used = _used(source, node)
            if used is not None and (used.member or not any(used.name in own for own in around)):
                found[used] = None
        elif node.type in ("string_literal", "system_lib_string") and node.parent.type == "preproc_include":
            found[Used(PurePosixPath(_text(node).strip('"<>')).name)] = None
        else:
            own = own_names(node)
            inside = around if own is None else (*around, own)[-_DEEPEST:]
            stack += [(child, inside) for child in reversed(_on_line(node, line))]
    return list(found)


def _on_line(node: Any, line: int) -> list[Any]:
    """Children of a node that touch a line, found without looking at all of them."""
    children = node.named_children
    low, high = 0, len(children)
    while low < high:
        middle = (low + high) // 2
        if children[middle].end_point[0] < line:
            low = middle + 1
        else:
            high = middle
    found = []
    while low < len(children) and children[low].start_point[0] <= line:
        found.append(children[low])
        low += 1
    return found


def _used(source: Source, node: Any) -> Used | None:
    """The name of a node; ``None`` where it is that of a keyword argument."""
    name, parent = _text(node), node.parent
    if node.type == "field_identifier":
        return Used(name, member=True)
    if parent is None:
        return Used(name)
    if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
        return Used(name, member=True, within=_modules(source, _text(parent.child_by_field_name("object"))))
    if parent.type == "keyword_argument" and parent.child_by_field_name("name") == node:
        return None
    return Used(name)


def _modules(source: Source, owner: str) -> frozenset[str]:
    """What a module may be called of which something is a member: by its own name, or as it was imported."""
    name = owner.rsplit(".", 1)[-1]
    if not _WORD.fullmatch(name):
        return frozenset()
    alias = re.search(rf"\bimport[ \t]+(?:\w+\.)*(\w+)[ \t]+as[ \t]+{name}\b", source.text[:_MOST_IMPORTS])
    return frozenset({name, alias[1]} if alias else {name})
