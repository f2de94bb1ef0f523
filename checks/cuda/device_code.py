"""Device code alone: a source with its host parts set aside, as NVRTC wants it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judge_tui.checks.cuda.grammar import parse, text_of

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = ["PRELUDE", "STUBS", "device_only"]

_DEVICE = re.compile(r"__(?:global|device|constant|shared|managed)__")
_HOST = re.compile(
    r"\bstd::|\bcuda[A-Z]\w*|<<<|\b(?:malloc|free|fprintf|fopen|exit|rand|srand|clock|memcpy)\s*\(|\bFILE\b|\bmain\s*\("
)
#: What binds a kernel to a framework of Python's: its names, its macros and its headers.
_FRAMEWORK = re.compile(
    r"\b(?:torch|at|c10|pybind11|py)::|\b(?:TORCH|PYBIND11|AT|C10)_[A-Z]\w*\s*\(|\bPy(?:Object|_\w+|MODINIT_FUNC)\b"
)
_FRAMEWORK_HEADER = re.compile(r'[<"](?:torch|ATen|c10|pybind11)/|[<"]Python\.h[">]')
_OUTER = frozenset({"namespace_definition", "linkage_specification", "declaration_list", "translation_unit"})
_INNER = frozenset({
    "function_definition", "declaration", "template_declaration", "template_instantiation",
    "struct_specifier", "class_specifier", "expression_statement", "using_declaration",
    "alias_declaration", "type_definition",
})  # fmt: skip
_NUMBERS = """
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define FLT_DIG 6
"""
_LIMITS = """
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL - 1)
"""
_MATH = """
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#endif
"""
_INTEGERS = """
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long long uint64_t; typedef unsigned long uintptr_t; typedef long intptr_t;
"""
#: What stands for the headers of the host's library, which NVRTC lacks.
STUBS = {
    "cfloat": _NUMBERS, "float.h": _NUMBERS, "climits": _LIMITS, "limits.h": _LIMITS, "cmath": _MATH,
    "math.h": _MATH, "cstdint": "#pragma once" + _INTEGERS, "stdint.h": "#pragma once" + _INTEGERS,
}  # fmt: skip
#: What a source may rely on whatever it includes.
PRELUDE = "namespace std {}\n"


def device_only(source: bytes) -> bytes:
    """Blank what is the host's alone; every line stays where it is.

    Args:
        source: A CUDA source.

    Raises:
        Skipped: The grammar is not installed.
    """
    result = bytearray(source)
    stack = [parse(source)]
    while stack:
        node = stack.pop()
        if node.type in _OUTER or node.type.startswith("preproc_if") or node.type.startswith("preproc_el"):
            stack += node.children
        elif (node.type in _INNER and _host(node)) or _of_a_framework(node):
            for at in range(node.start_byte, node.end_byte):
                if result[at] != 0x0A:
                    result[at] = 0x20
    return bytes(result)


def _host(node: Node) -> bool:
    text = text_of(node)
    if node.type == "using_declaration":
        return "std" in text
    return bool(_HOST.search(text) or _FRAMEWORK.search(text)) and not _DEVICE.search(text)


def _of_a_framework(node: Node) -> bool:
    """Whether it is an include of a framework's header."""
    return node.type == "preproc_include" and bool(_FRAMEWORK_HEADER.search(text_of(node)))
