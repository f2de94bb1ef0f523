"""Methods that Python itself calls: which of them cross a border, and which are somebody's own word."""

from __future__ import annotations

__all__ = ["ASYNCHRONOUS", "SPECIALS", "WORDS"]

_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift",
           "and", "or", "xor")  # fmt: skip
_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
_OTHERS = (
    *("hash", "bool", "len", "length_hint", "contains", "iter", "next", "reversed"),
    *("getitem", "setitem", "delitem", "call", "enter", "exit", "repr", "str", "format", "bytes"),
    *("int", "float", "complex", "index", "round", "trunc", "floor", "ceil", "neg", "pos", "abs", "invert"),
)
#: Every one that crosses.
SPECIALS = frozenset(
    f"__{name}__"
    for name in (
        *_COMPARED,
        *_OTHERS,
        *(f"{side}{name}" for name in _BINARY for side in ("", "r", "i") if (side, name) != ("i", "divmod")),
    )
)
#: What they answer is whether something holds.
WORDS = frozenset({*(f"__{name}__" for name in _COMPARED), "__bool__", "__contains__"})
#: What asks for an event loop, which does not reach over a border.
ASYNCHRONOUS = frozenset({"__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__"})
