"""CUDA's own syntax in preprocessed text, rewritten for the host's compiler.

What is rewritten: ``kernel<<<grid, block, shared, stream>>>(arguments)``, ``__shared__`` (static storage of
a thread, which the runtime tells from other memory; ``extern`` becomes the block's dynamic memory),
``__device__`` and ``__constant__`` variables, ``__noinline__`` and inline PTX. No line is added or removed.
Only text of the submission is touched, which line markers tell, but for names like the emulator's own, which
become others in the system's text as well. Comments are gone by then; literals are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judge_tui.checks.cuda.emulator.ptx import emulated
from judge_tui.checks.cuda.emulator.tokens import (
    CLOSING,
    MOST_TOKENS,
    OPENING,
    Refusal,
    Token,
    braces_around,
    in_a_function,
    matching,
    place,
    stretches,
    tokens_of,
)

__all__ = ["rewritten"]

_MOST_DECLARED = 300
_MOST_REWRITES = 5_000
_NOT_NAMES = frozenset({"if", "while", "for", "switch", "return", "else", "do", "case", "operator"})
_CONDITIONS = frozenset({"if", "while", "for", "switch"})
#: Words of declarations that the compiler stores in its own way, and of none.
_STORED_OTHERWISE = frozenset({"template", "extern", "inline", "constexpr", "managed", "typedef", "using"})
#: Names that the emulator's headers declare; a submission's own of that kind are others.
_OURS = re.compile(r"\bemu(?:_\w+)?\b")


@dataclass(slots=True)
class _Edits:
    """Replacements by place; several at one place come in the order in which they were made."""

    made: list[tuple[int, int, str]]

    def replace(self, start: int, end: int, text: str) -> None:
        self.made.append((start, end, text))

    def insert(self, at: int, text: str) -> None:
        self.made.append((at, at, text))

    def applied(self, text: str) -> str:
        parts: list[str] = []
        at = 0
        for start, end, new in sorted(self.made, key=lambda edit: (edit[0], edit[1])):
            parts += [text[at:start], new]
            at = end
        return "".join([*parts, text[at:]])


def rewritten(text: str, headers: str, stored: str) -> str:
    """Rewrite preprocessed text.

    Args:
        text: What ``g++ -E`` made of a CUDA source.
        headers: The folder of the emulator's headers, which the submission does not know.
        stored: How the attributes begin that store a variable in device memory, ``…_zero`` without an initial
            value and ``…_data`` with one.

    Raises:
        Refusal: Inline PTX, or a launch, that the emulator does not understand.
    """
    tokens = tokens_of(text, headers)
    braces = braces_around(tokens)
    edits = _Edits([])
    for start, end, whose in stretches(text, headers):
        for match in _OURS.finditer(text, start, end) if whose == "system" else ():
            edits.replace(match.start(), match.end(), f"their_{match[0]}")
    for index, token in enumerate(tokens):
        if len(edits.made) > _MOST_REWRITES:
            raise Refusal("too many launches and shared variables", *place(text, token.start))
        if token.kind == "launch" and not (index and tokens[index - 1].text == "operator"):
            _launch(text, tokens, index, edits)
        elif token.text == "__shared__":
            _shared(text, tokens, index, edits, braces)
        elif token.kind == "word" and _OURS.fullmatch(token.text):
            edits.replace(token.start, token.end, f"their_{token.text}")
        elif token.text == "__noinline__":
            edits.replace(token.start, token.end, "__attribute__((noinline))")
        elif token.text in ("asm", "__asm__", "__asm"):
            _assembly(text, tokens, index, edits)
        elif _of_device(tokens, index) and not in_a_function(tokens, braces[index]):
            _variable(text, tokens, index, edits, stored)
    return edits.applied(text)


def _opening(tokens: Sequence[Token], index: int) -> int | None:
    """Where the group that ends at ``index`` begins; angle brackets group as well."""
    closes = tokens[index].text
    depth = 0
    at = index
    while at >= max(0, index - MOST_TOKENS):
        text = tokens[at].text
        if text in CLOSING and (at != index or closes != ">"):
            inner = _plain_opening(tokens, at)
            if inner is None:
                return None
            if at == index:
                return inner
            at = inner
        elif text == ">" and not _arrow(tokens, at):
            depth += 1
        elif text == "<":
            depth -= 1
            if depth == 0:
                return at
        elif text in (";", "{", "}"):
            return None
        at -= 1
    return None


def _arrow(tokens: Sequence[Token], at: int) -> bool:
    """Whether the ``>`` there ends a ``->``."""
    return at > 0 and tokens[at - 1].text == "-" and tokens[at - 1].end == tokens[at].start


def _plain_opening(tokens: Sequence[Token], index: int) -> int | None:
    depth = 0
    for at in range(index, max(index - MOST_TOKENS, -1), -1):
        if tokens[at].text in CLOSING:
            depth += 1
        elif tokens[at].text in OPENING:
            depth -= 1
            if depth == 0:
                return at
    return None


def _named_from(tokens: Sequence[Token], index: int) -> int | None:
    """Where the expression that names a kernel begins; ``index`` is its last token."""
    if index >= 0 and tokens[index].text in (")", "]", ">"):
        start = _opening(tokens, index)
        if not start:
            return start
        before = tokens[start - 1]
        if before.text in _NOT_NAMES or (before.kind != "word" and before.text not in (")", "]", ">")):
            return start
        earlier = _named_from(tokens, start - 1)
        if earlier is None or (earlier and tokens[earlier - 1].text in _CONDITIONS):
            return start
        return earlier
    return _qualified_from(tokens, index) if index >= 0 and tokens[index].kind == "word" else None


def _qualified_from(tokens: Sequence[Token], index: int) -> int:
    """Where ``a::b<c>::template d`` or ``object.member`` begins; ``index`` is its last name."""
    at = index
    if at and tokens[at - 1].text == "template":
        at -= 1
    if at >= 2 and tokens[at - 1].text == ":" and tokens[at - 2].text == ":":
        at -= 2
        if (
            at
            and (tokens[at - 1].text == ">" or tokens[at - 1].kind == "word")
            and tokens[at - 1].text not in _NOT_NAMES
        ):
            return _scope_from(tokens, at - 1, at)
        return at
    member = 2 if at >= 2 and tokens[at - 1].text == "." else 3 if at >= 3 and _arrow(tokens, at - 1) else 0
    owner = _named_from(tokens, at - member) if member else None
    return at if owner is None else owner


def _scope_from(tokens: Sequence[Token], last: int, otherwise: int) -> int:
    """Where the scope before ``::`` begins; ``last`` is its last token."""
    if tokens[last].text == ">":
        opening = _opening(tokens, last)
        if not opening or tokens[opening - 1].kind != "word":
            return otherwise
        last = opening - 1
    return _qualified_from(tokens, last)


def _configuration_end(tokens: Sequence[Token], index: int) -> int | None:
    """Index of the first of the three ``>`` that end a configuration and stand before ``(``."""
    at = index + 1
    while at < min(index + MOST_TOKENS, len(tokens)):
        text = tokens[at].text
        if text in OPENING:
            end = matching(tokens, at)
            if end is None:
                return None
            at = end
        elif text in (";", "}"):
            return None
        elif text == ">" and [token.text for token in tokens[at : at + 4]] == [">", ">", ">", "("]:
            return at
        at += 1
    return None


def _launch(text: str, tokens: Sequence[Token], index: int, edits: _Edits) -> None:
    start = _named_from(tokens, index - 1)
    closing = _configuration_end(tokens, index)
    end = matching(tokens, closing + 3) if closing is not None else None
    if start is None or closing is None or end is None:
        raise Refusal("a kernel launch that cannot be read", *place(text, tokens[index].start))
    opened = tokens[closing + 3]
    edits.insert(tokens[start].start, "::emu::launched([=](auto... emu_a) { ")
    edits.replace(tokens[index].start, tokens[index].end, "(emu_a...); }, ::emu::Shape(")
    edits.replace(tokens[closing].start, opened.end, ")" if end == closing + 4 else "), ")
    for at in range(closing + 4, end):
        # NULL: a copy of its value is a number, and no pointer is made of that
        alone = tokens[at - 1].text in "(," and tokens[at + 1].text in ",)"
        if tokens[at].text == "__null" and alone:
            edits.replace(tokens[at].start, tokens[at].end, "::emu::Null()")


def _aligned_first(text: str, tokens: Sequence[Token], start: int, end: int, edits: _Edits) -> None:
    """Move ``alignas(…)`` to where C++ alone has it: before every specifier."""
    at = next((at for at in range(start + 1, end) if tokens[at].text == "alignas"), None)
    closing = matching(tokens, at + 1) if at is not None else None
    if at is None or closing is None:
        return
    moved = text[tokens[at].start : tokens[closing].end]
    edits.insert(tokens[start].start, " ".join(moved.split()) + " ")
    edits.replace(tokens[at].start, tokens[closing].end, "\n" * moved.count("\n"))


def _shared(text: str, tokens: Sequence[Token], index: int, edits: _Edits, braces: Sequence[int]) -> None:
    start, last = index, min(index + _MOST_DECLARED, len(tokens) - 1)
    while (
        start and index - start < _MOST_DECLARED and tokens[start - 1].text not in (";", "{", "}", ")", ":")
    ):
        start -= 1
    end = index
    while end < last and tokens[end].text != ";":
        if tokens[end].text in OPENING:
            end = matching(tokens, end) or end
        end += 1
    words = {token.text for token in (*tokens[start:index], *tokens[index + 1 : min(index + 4, end)])}
    _aligned_first(text, tokens, start, end, edits)
    token = tokens[index]
    if "extern" not in words:
        edits.replace(token.start, token.end, "thread_local" if "static" in words else "static thread_local")
        return
    edits.replace(token.start, token.end, "")
    opening = next((at for at in range(index + 1, end) if _declares(tokens, at)), end)
    if in_a_function(tokens, braces[index]):
        # GCC forgets the symbol's name within templates, so there the array is a reference to the memory
        extern = next(each for each in tokens[start : min(index + 4, end)] if each.text == "extern")
        edits.replace(extern.start, extern.end, "")
        edits.insert(tokens[opening - 1].start, "(&")
        edits.insert(tokens[opening - 1].end, ")")
        edits.insert(tokens[end].start, " = ::emu::Dynamic()")
        return
    bracket = next((at for at in range(end - 1, index, -1) if tokens[at].text == "]"), end - 1)
    edits.insert(tokens[bracket].end, ' __asm__("emu_dynamic")')


def _declares(tokens: Sequence[Token], at: int) -> bool:
    """Whether the bracket there follows the name that is declared."""
    return tokens[at].text == "[" and tokens[at - 1].kind == "word"


def _of_device(tokens: Sequence[Token], index: int) -> bool:
    """Whether ``__device__`` or ``__constant__`` stands there, as the headers spell them."""
    said = "".join(each.text for each in tokens[index : index + 6])
    return said in ("__attribute__((device))", "__attribute__((constant))")


def _variable(text: str, tokens: Sequence[Token], index: int, edits: _Edits, stored: str) -> None:
    """Stores what is declared there in device memory, where it is a variable that can change."""
    start, at = index, index + 6
    while start and index - start < _MOST_DECLARED and tokens[start - 1].text not in (";", "{", "}"):
        start -= 1
    last = min(index + _MOST_DECLARED, len(tokens) - 1)
    while at < last and tokens[at].text not in (";", "=", "{"):
        if tokens[at].text == "(" and tokens[at - 1].text not in ("__attribute__", "alignas", "decltype"):
            return  # a function, or a lambda
        at = (matching(tokens, at) or last if tokens[at].text in OPENING else at) + 1
    words = [token.text for token in tokens[start:at]]
    if set(words) & _STORED_OTHERWISE or any(_of_device(tokens, each) for each in range(start, index)):
        return
    if "const" in words[len(words) - words[::-1].index("*") if "*" in words else 0 :]:
        return
    _aligned_first(text, tokens, start, at, edits)
    given = any(token.text in ("=", "{") for token in _declaration(tokens, at))
    edits.replace(tokens[index + 3].start, tokens[index + 3].end, f"{stored}_{'data' if given else 'zero'}")


def _declaration(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """The tokens from there to the end of a declaration."""
    end = at
    while end < min(at + MOST_TOKENS, len(tokens)) and tokens[end].text != ";":
        end += 1
    return tokens[at:end]


def _assembly(text: str, tokens: Sequence[Token], index: int, edits: _Edits) -> None:
    at = index + 1
    while at < len(tokens) and tokens[at].text in ("volatile", "__volatile__", "goto", "inline"):
        at += 1
    if at >= len(tokens) or tokens[at].text != "(":
        return
    end = matching(tokens, at)
    if end is None:
        return
    statement = text[tokens[at].end : tokens[end].start]
    new = emulated(statement)
    if new is None:
        message = f"inline PTX that the emulator does not know: {_shown(statement)}"
        raise Refusal(message, *place(text, tokens[index].start))
    kept = "\n" * text.count("\n", tokens[index].start, tokens[end].end)
    edits.replace(tokens[index].start, tokens[end].end, new + kept)


def _shown(statement: str) -> str:
    words = " ".join(statement.split())
    return words if len(words) <= 80 else words[:79] + "…"
