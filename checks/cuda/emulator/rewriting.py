"""CUDA's own syntax in preprocessed text, rewritten for the host's compiler.

What is rewritten: ``kernel<<<grid, block, shared, stream>>>(arguments)``, ``__shared__`` (static storage of
a thread, which the runtime tells from other memory; ``extern`` becomes the block's dynamic memory),
``__noinline__`` and inline PTX. No line is added or removed, and only text of the submission is touched:
preprocessed text says by its line markers where that is. Comments are gone by then; literals are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge_tui.checks.cuda.emulator.ptx import emulated

__all__ = ["Refusal", "place", "rewritten"]

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\\n]|\\.)*)"([ 0-9]*)$', re.M)
_TOKEN = re.compile(
    r"""(?P<skip>^\#[^\n]*$)"""
    r"""|(?P<literal>(?:\b(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")"""
    r"""|(?:\bu8|\b[uUL])?"(?:\\.|[^"\\\n])*"|(?:\b(?:u8|[uUL])|(?<![\w]))'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)"""
    r"""|(?P<launch><<[ \t]*<)|(?P<sign>[^\s\w])""",
    re.S | re.M,
)
_CLOSING = {")": "(", "]": "[", "}": "{"}
_OPENING = {opening: closing for closing, opening in _CLOSING.items()}
#: Characters of a submission's own text, tokens of a launch or declaration, and rewrites: bounds on the work
#: that a hostile source can make here.
_MOST_TEXT = 4 << 20
_MOST_TOKENS = 5_000
_MOST_DECLARED = 300
_MOST_REWRITES = 5_000
_NOT_NAMES = frozenset({"if", "while", "for", "switch", "return", "else", "do", "case", "operator"})
_CONDITIONS = frozenset({"if", "while", "for", "switch"})
#: GCC's flag for text of a system header, and as such our own are included.
_SYSTEM = "3"
#: How names begin of files that are not the submission's.
_NOT_ITS_OWN = ("/", "emulator-include/", "./emulator-include/")
#: Names that the emulator's headers declare; a submission's own of that kind are others.
_OURS = re.compile(r"emu(?:_\w+)?")


@dataclass(frozen=True, slots=True)
class Refusal(Exception):
    """Something that the emulator has no meaning for.

    Attributes:
        message: What, as a clause.
        file: File of the submission.
        line: 1-based.
    """

    message: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


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


def rewritten(text: str) -> str:
    """Rewrite preprocessed text.

    Args:
        text: What ``g++ -E`` made of a CUDA source.

    Raises:
        Refusal: Inline PTX, or a launch, that the emulator does not understand.
    """
    tokens = _tokens(text)
    braces = _braces(tokens)
    edits = _Edits([])
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
    return edits.applied(text)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    stretches = list(_own(text))
    if sum(end - start for start, end in stretches) > _MOST_TEXT:
        raise Refusal(f"a source of more than {_MOST_TEXT >> 20} MiB after preprocessing", "", 0)
    for start, end in stretches:
        for match in _TOKEN.finditer(text, start, end):
            kind = match.lastgroup or ""
            if match["skip"] is None:
                kind = "literal" if match["literal"] is not None else kind
                found.append(_Token(kind, match[0], match.start(), match.end()))
    return found


def _own(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of the submission's own text, neighbours joined."""
    begun: int | None = None
    for marker in _MARKER.finditer(text):
        # a file of the submission's may say of itself that it is the system's
        system = _SYSTEM in marker[3].split() and marker[2].startswith(_NOT_ITS_OWN)
        own = not system and not marker[2].startswith("<")
        if begun is not None and not own:
            yield begun, marker.start()
            begun = None
        elif begun is None and own:
            begun = marker.end()
    if begun is not None:
        yield begun, len(text)


def place(text: str, at: int) -> tuple[str, int]:
    """File and line of an offset, by the marker before it."""
    last = None
    for marker in _MARKER.finditer(text, 0, at):
        last = marker
    if last is None:
        return "", 0
    return last[2], int(last[1]) + text.count("\n", last.end(), at) - 1


def _matching(tokens: Sequence[_Token], index: int) -> int | None:
    """Where the group that opens at ``index`` ends."""
    depth = 0
    for at in range(index, min(index + _MOST_TOKENS, len(tokens))):
        if tokens[at].text in _OPENING:
            depth += 1
        elif tokens[at].text in _CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return None


def _opening(tokens: Sequence[_Token], index: int) -> int | None:
    """Where the group that ends at ``index`` begins; angle brackets group as well."""
    closes = tokens[index].text
    depth = 0
    at = index
    while at >= max(0, index - _MOST_TOKENS):
        text = tokens[at].text
        if text in _CLOSING and (at != index or closes != ">"):
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


def _arrow(tokens: Sequence[_Token], at: int) -> bool:
    """Whether the ``>`` there ends a ``->``."""
    return at > 0 and tokens[at - 1].text == "-" and tokens[at - 1].end == tokens[at].start


def _plain_opening(tokens: Sequence[_Token], index: int) -> int | None:
    depth = 0
    for at in range(index, max(index - _MOST_TOKENS, -1), -1):
        if tokens[at].text in _CLOSING:
            depth += 1
        elif tokens[at].text in _OPENING:
            depth -= 1
            if depth == 0:
                return at
    return None


def _named_from(tokens: Sequence[_Token], index: int) -> int | None:
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


def _qualified_from(tokens: Sequence[_Token], index: int) -> int:
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


def _scope_from(tokens: Sequence[_Token], last: int, otherwise: int) -> int:
    """Where the scope before ``::`` begins; ``last`` is its last token."""
    if tokens[last].text == ">":
        opening = _opening(tokens, last)
        if not opening or tokens[opening - 1].kind != "word":
            return otherwise
        last = opening - 1
    return _qualified_from(tokens, last)


def _configuration_end(tokens: Sequence[_Token], index: int) -> int | None:
    """Index of the first of the three ``>`` that end a configuration and stand before ``(``."""
    at = index + 1
    while at < min(index + _MOST_TOKENS, len(tokens)):
        text = tokens[at].text
        if text in _OPENING:
            end = _matching(tokens, at)
            if end is None:
                return None
            at = end
        elif text in (";", "}"):
            return None
        elif text == ">" and [token.text for token in tokens[at : at + 4]] == [">", ">", ">", "("]:
            return at
        at += 1
    return None


def _launch(text: str, tokens: Sequence[_Token], index: int, edits: _Edits) -> None:
    start = _named_from(tokens, index - 1)
    closing = _configuration_end(tokens, index)
    end = _matching(tokens, closing + 3) if closing is not None else None
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


def _aligned_first(text: str, tokens: Sequence[_Token], start: int, end: int, edits: _Edits) -> None:
    """Move ``alignas(…)`` to where C++ alone has it: before every specifier."""
    at = next((at for at in range(start + 1, end) if tokens[at].text == "alignas"), None)
    closing = _matching(tokens, at + 1) if at is not None else None
    if at is None or closing is None:
        return
    moved = text[tokens[at].start : tokens[closing].end]
    edits.insert(tokens[start].start, " ".join(moved.split()) + " ")
    edits.replace(tokens[at].start, tokens[closing].end, "\n" * moved.count("\n"))


def _shared(text: str, tokens: Sequence[_Token], index: int, edits: _Edits, braces: Sequence[int]) -> None:
    start, last = index, min(index + _MOST_DECLARED, len(tokens) - 1)
    while (
        start and index - start < _MOST_DECLARED and tokens[start - 1].text not in (";", "{", "}", ")", ":")
    ):
        start -= 1
    end = index
    while end < last and tokens[end].text != ";":
        if tokens[end].text in _OPENING:
            end = _matching(tokens, end) or end
        end += 1
    words = {token.text for token in (*tokens[start:index], *tokens[index + 1 : min(index + 4, end)])}
    _aligned_first(text, tokens, start, end, edits)
    token = tokens[index]
    if "extern" not in words:
        edits.replace(token.start, token.end, "thread_local" if "static" in words else "static thread_local")
        return
    edits.replace(token.start, token.end, "")
    opening = next((at for at in range(index + 1, end) if _declares(tokens, at)), end)
    if _in_a_function(tokens, braces[index]):
        # GCC forgets the symbol's name within templates, so there the array is a reference to the memory
        extern = next(each for each in tokens[start : min(index + 4, end)] if each.text == "extern")
        edits.replace(extern.start, extern.end, "")
        edits.insert(tokens[opening - 1].start, "(&")
        edits.insert(tokens[opening - 1].end, ")")
        edits.insert(tokens[end].start, " = ::emu::Dynamic()")
        return
    bracket = next((at for at in range(end - 1, index, -1) if tokens[at].text == "]"), end - 1)
    edits.insert(tokens[bracket].end, ' __asm__("emu_dynamic")')


def _declares(tokens: Sequence[_Token], at: int) -> bool:
    """Whether the bracket there follows the name that is declared."""
    return tokens[at].text == "[" and tokens[at - 1].kind == "word"


def _braces(tokens: Sequence[_Token]) -> list[int]:
    """For each token the innermost brace around it, or -1."""
    around: list[int] = []
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.text == "}" and opened:
            opened.pop()
        around.append(opened[-1] if opened else -1)
        if token.text == "{":
            opened.append(at)
    return around


def _in_a_function(tokens: Sequence[_Token], brace: int) -> bool:
    """Whether a brace belongs neither to a namespace nor to ``extern "C"``."""
    if brace < 0:
        return False
    before = [token.text for token in tokens[max(0, brace - 8) : brace]]
    tail = before[len(before) - before[::-1].index("namespace") :] if "namespace" in before else None
    named = tail is not None and all(part.isidentifier() or part == ":" for part in tail)
    return not named and before[-1:] != ['"C"']


def _assembly(text: str, tokens: Sequence[_Token], index: int, edits: _Edits) -> None:
    at = index + 1
    while at < len(tokens) and tokens[at].text in ("volatile", "__volatile__", "goto", "inline"):
        at += 1
    if at >= len(tokens) or tokens[at].text != "(":
        return
    end = _matching(tokens, at)
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
