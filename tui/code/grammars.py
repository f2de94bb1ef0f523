"""Which grammar reads a file, and the tree-sitter queries that colour it.

Imports no grammar by itself: :func:`load` does, away from the event loop.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any

__all__ = ["IDENTIFIER", "STYLES", "grammar_of", "load", "style_of_name"]

#: What the queries call a name, whose style depends on its spelling.
IDENTIFIER = "identifier"

#: Names of styles; a style's number is its index, 0 being plain.
STYLES = (
    "",
    "keyword",
    "function",
    "type",
    "string",
    "escape",
    "number",
    "constant",
    "comment",
    "doc",
    "decorator",
    "builtin",
    "call",
    "self",
    "operator",
    "label",
)

_SUFFIXES = {
    ".py": "python",
    ".pyi": "python",
    ".c": "c",
    ".h": "cpp",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".cu": "cuda",
    ".cuh": "cuda",
}

_PYTHON = """
[ "and" "in" "is" "or" "not" "is not" "not in" "as" "assert" "async" "await" "break" "class" "continue" "def"
  "del" "elif" "else" "except" "finally" "for" "from" "global" "if" "import" "lambda" "nonlocal"
  "pass" "raise"
  "return" "try" "while" "with" "yield" "match" "case" ] @keyword
(string) @string
(expression_statement (string) @doc)
(escape_sequence) @escape
(interpolation) @plain
[ (integer) (float) ] @number
[ (none) (true) (false) ] @constant
(comment) @comment
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(identifier) @identifier
(decorator) @decorator
(type (identifier) @type)
(function_definition name: (identifier) @function)
(class_definition name: (identifier) @type)
"""

_C = """
[ "break" "case" "const" "continue" "default" "do" "else" "enum" "extern" "for" "if" "inline"
  "return" "sizeof"
  "static" "struct" "switch" "typedef" "union" "volatile" "while" ] @keyword
[ "#define" "#elif" "#else" "#endif" "#if" "#ifdef" "#ifndef" "#include" (preproc_directive) ] @decorator
[ (string_literal) (system_lib_string) (char_literal) ] @string
(escape_sequence) @escape
(number_literal) @number
(comment) @comment
[ (type_identifier) (primitive_type) (sized_type_specifier) ] @type
(statement_identifier) @label
(identifier) @identifier
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(function_declarator declarator: (identifier) @function)
(preproc_function_def name: (identifier) @function)
"""

_CPP = """
[ "catch" "class" "constexpr" "delete" "explicit" "final" "friend" "mutable" "namespace" "noexcept" "new"
  "override" "private" "protected" "public" "template" "throw" "try" "typename" "using" "virtual" ] @keyword
(raw_string_literal) @string
(auto) @type
[ (true) (false) (null) ] @constant
(this) @self
(template_function name: (identifier) @call)
(call_expression function: (qualified_identifier name: (identifier) @call))
(function_declarator declarator: (qualified_identifier name: (identifier) @function))
(function_declarator declarator: (field_identifier) @function)
"""

_CUDA = """
[ "<<<" ">>>" "__host__" "__device__" "__global__" "__forceinline__" "__shared__" "__constant__" ] @decorator
"""

# Told apart here and not in the queries, where a predicate costs ten times the rest.
_PYTHON_BUILTINS = """
abs all any bool bytes dict divmod enumerate filter float format frozenset getattr hasattr hash id
int isinstance issubclass iter len list map max min next object open print property range repr
reversed round set setattr slice sorted staticmethod classmethod str sum super tuple type zip
Exception ValueError TypeError IndexError KeyError RuntimeError AssertionError NotImplementedError
"""
_CUDA_BUILTINS = "threadIdx blockIdx blockDim gridDim warpSize"
_NAMES = {
    "python": dict.fromkeys(_PYTHON_BUILTINS.split(), "builtin") | {"self": "self", "cls": "self"},
    "cuda": dict.fromkeys(_CUDA_BUILTINS.split(), "builtin"),
}
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")

_SOURCES = {
    "python": ("tree_sitter_python", _PYTHON),
    "c": ("tree_sitter_c", _C),
    "cpp": ("tree_sitter_cpp", _C + _CPP),
    "cuda": ("tree_sitter_cuda", _C + _CPP + _CUDA),
}


def grammar_of(name: str) -> str | None:
    """Name of the grammar for a file, or ``None``."""
    return _SUFFIXES.get(PurePosixPath(name).suffix.lower())


def style_of_name(grammar: str, name: str) -> str:
    """The style that an identifier has for its spelling; empty for most."""
    known = _NAMES.get(grammar, {}).get(name, "")
    return known or ("constant" if _CONSTANT.fullmatch(name) else "")


@lru_cache(maxsize=8)
def load(grammar: str) -> tuple[Any, Any]:
    """The tree-sitter language and its query, which calls every name ``IDENTIFIER``.

    Raises:
        ImportError: The wheel of that grammar is not installed.
    """
    from tree_sitter import Language, Query

    module, query = _SOURCES[grammar]
    language = Language(import_module(module).language())
    return language, Query(language, query)
