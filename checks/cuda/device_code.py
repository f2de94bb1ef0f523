"""Device code alone: a source with its host parts set aside, as NVRTC wants it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from judge_tui.checks.cuda.grammar import parse, text_of
from judge_tui.checks.cuda.repairs import toolkit_header

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = ["device_only", "set_aside"]

_DEVICE = re.compile(r"__(?:global|device|constant|shared|managed)__")
_HOST = re.compile(
    r"\bstd::|\bcuda[A-Z]\w*|<<<|\b(?:malloc|free|fprintf|fopen|exit|rand|srand|clock|memcpy)\s*\(|\bFILE\b|\bmain\s*\("
    r"|\b(?:cublas|cusparse|cusolver|cufft|cudnn|nccl)[A-Z]\w*|\bcurand(?:Create|Destroy|Generat|Set|Status)\w*"
)
#: Of the standard library, what is a type or a constant: device code reads it, whoever else does.
_PORTABLE = re.compile(
    r"\bstd::(?:u?int(?:_least|_fast)?(?:8|16|32|64|max|ptr)_t|size_t|ptrdiff_t|nullptr_t|numeric_limits"
    r"|(?:is|enable_if|conditional|remove|add|make|common_type|decay|index_sequence|integer_sequence|void)\w*"
    r"|(?:signed_|unsigned_)?integral\w*|floating_point|same_as|convertible_to|derived_from|invocable\w*"
    r"|true_type|false_type|declval)\b"
)
#: What a declaration declares: a type, a name for one, a namespace.
_NAMED = re.compile(
    r"\b(?:struct|class|union|enum(?:\s+class|\s+struct)?|concept|using|namespace)\s+([A-Za-z_]\w*)"
)
#: A function or a variable; the first of either is the one that is declared.
_VALUE = re.compile(r"([A-Za-z_]\w*)\s*(?:\(|=|;|\[|\{)")
#: What binds a kernel to a framework of Python's: its names, its macros and its headers.
_FRAMEWORK = re.compile(
    r"\b(?:torch|at|c10|pybind11|py)::|\b(?:TORCH|PYBIND11|AT|C10)_[A-Z]\w*\s*\(|\bPy(?:Object|_\w+|MODINIT_FUNC)\b"
)
_INCLUDED = re.compile(r'[<"]([^>"]+)[>"]')
_FRAMEWORK_HEADER = re.compile(r'[<"](?:torch|ATen|c10|pybind11)/|[<"]Python\.h[">]')
_OUTER = frozenset({"namespace_definition", "linkage_specification", "declaration_list", "translation_unit"})
_INNER = frozenset({
    "function_definition", "declaration", "template_declaration", "template_instantiation",
    "struct_specifier", "class_specifier", "expression_statement", "using_declaration",
    "alias_declaration", "type_definition", "field_declaration", "concept_definition",
})  # fmt: skip


def device_only(source: bytes) -> bytes:
    """Blank what is the host's alone; every line stays where it is.

    Args:
        source: A CUDA source.

    Raises:
        Skipped: The grammar is not installed.
    """
    return set_aside(source)[0]


def set_aside(source: bytes) -> tuple[bytes, frozenset[str]]:
    """Blank what is the host's alone, and tell what was declared there.

    Of a class only those members go that are the host's.

    Args:
        source: A CUDA source.

    Returns:
        The source, every line where it was; names that it declares no more.

    Raises:
        Skipped: The grammar is not installed.
    """
    result = bytearray(source)
    declared: set[str] = set()
    stack = [parse(source)]
    while stack:
        node = stack.pop()
        if node.type in _INNER and _hosted(node) and (members := list(_members(node))):
            stack += members
            continue
        if not _set_aside_whole(node):
            if node.type in _OUTER or node.type.startswith(("preproc_if", "preproc_el")):
                stack += node.children
            continue
        declared |= _declared(node)
        for at in range(node.start_byte, node.end_byte):
            if result[at] != 0x0A:
                result[at] = 0x20
    return bytes(result), frozenset(declared)


def _set_aside_whole(node: Node) -> bool:
    if node.type == "linkage_specification":
        # of 'extern "C"' before one declaration nothing may be left
        return any(child.type in _INNER and _host(child) for child in node.children)
    return _for_hosts(node) or (node.type in _INNER and _host(node))


def _members(node: Node) -> Iterator[Node]:
    """Members of a class, or of a template of one."""
    inside = [node, *node.children] if node.type == "template_declaration" else [node]
    for each in inside:
        if each.type in ("struct_specifier", "class_specifier"):
            for child in each.children:
                if child.type == "field_declaration_list":
                    yield from child.children


def _declared(node: Node) -> set[str]:
    text = text_of(node)
    names = set(_NAMED.findall(text))
    if first := _VALUE.search(re.sub(r"^\s*template\s*<[^{;]*?>\s*(?=\w)", "", text)):
        names.add(first[1])
    return names


def _host(node: Node) -> bool:
    if node.type == "using_declaration":
        return "std" in text_of(node)
    return _hosted(node) and not _DEVICE.search(text_of(node))


def _hosted(node: Node) -> bool:
    """Whether anything in it is the host's."""
    plain = _PORTABLE.sub("", text_of(node))
    return bool(_HOST.search(plain) or _FRAMEWORK.search(plain))


def _for_hosts(node: Node) -> bool:
    """Whether it is an include of a framework's header, or of one of the toolkit's host libraries."""
    if node.type != "preproc_include":
        return False
    text = text_of(node)
    named = _INCLUDED.search(text)
    return bool(_FRAMEWORK_HEADER.search(text) or (named and toolkit_header(named[1])))
