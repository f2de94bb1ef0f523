"""What the compiler is not told: attributes, pragmas and assembly that would take the emulator's hooks out.

Every text that is compiled is held to the same lists, whoever wrote it and whatever its line markers say
of where it comes from: a submission can claim to be a system header. Attributes that are not listed are
taken out, pragmas as well; assembly becomes a trap, but for names of functions as the C library's
headers give them.

Source: GCC manual, "Function Attributes", "Pragmas Accepted by GCC"; ISO C++ [lex] for what is a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from judge_tui.checks.cuda.diagnostics import Diagnostic
from judge_tui.checks.cuda.emulator.tokens import Refusal, place

__all__ = ["NO_HOOKS", "guarded"]

_BEFORE = r"\w$\x80-\U0010ffff"
#: Literals, directives, and the words and brackets that matter; all else is passed over.
_FOUND = re.compile(
    rf"""(?P<directive>^\#[^\n]*$)"""
    rf"""|(?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    rf"""|R(?<![{_BEFORE}]R)"(?P<mark>[^()\s\\]{{0,16}})\((?s:.*?)\)(?P=mark)\""""
    rf"""|[uUL]R(?<![{_BEFORE}][uUL]R)"(?P<mark2>[^()\s\\]{{0,16}})\((?s:.*?)\)(?P=mark2)\""""
    rf"""|u8R(?<![{_BEFORE}]u8R)"(?P<mark3>[^()\s\\]{{0,16}})\((?s:.*?)\)(?P=mark3)\""""
    rf"""|\d(?<![{_BEFORE}]\d)(?:[eEpP][+-]|[\w.])*'\w(?:[eEpP][+-]|'\w|[\w.])*)"""
    rf"""|(?P<attribute>__attribute(?<![{_BEFORE}]__attribute)(?:__)?(?![{_BEFORE}]))"""
    rf"""|(?P<asm>asm(?<![{_BEFORE}]asm)(?![{_BEFORE}])|__asm(?<![{_BEFORE}]__asm)(?:__)?(?![{_BEFORE}]))"""
    rf"""|(?P<brackets>\[\s*\[)|(?P<odd><:\s*(?:<:|\[)|\[\s*<:|\\|_Pragma(?<![{_BEFORE}]_Pragma)(?![{_BEFORE}]))""",
    re.M,
)
_MARKER = re.compile(r'# \d+ "(?:[^"\\\n]|\\.)*"[ 0-9]*')
_MARKER_LINE = re.compile(r'^# \d+ "(?:[^"\\\n]|\\.)*"[ 0-9]*$\n?', re.M)
_LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_NAME = re.compile(r"\s*(?:(\w+)\s*::\s*)?(\w+)\s*")
_USING = re.compile(r"\s*using\s+\w+\s*:(?!:)")
#: Names that the C library's headers give to functions, none of which is an instruction.
_LABEL = re.compile(
    r"(?:__|emu_|str|mem|wcs|wmem|pthread_|sched_)\w+|\w+64|at_quick_exit|rawmemchr|r?index|basename"
)
#: Assembly that touches no memory: none at all, and what <cpuid.h> asks the processor.
_HARMLESS = ("", r"cpuid\n\t")
_KEPT_PRAGMAS = re.compile(
    r"#\s*pragma\s+(?:pack\b.*|GCC\s+(?:push_options|pop_options|target\s*\([^()]*\)))\s*"
)
#: Pragmas that ask for what the emulator depends on, or name symbols.
_TOLD_PRAGMAS = re.compile(r"#\s*pragma\s+(?:GCC\s+optimize|clang\s+attribute|weak|redefine_extname)\b.*")
_KEPT = frozenset(
    """abi_tag access aligned alloc_align alloc_size always_inline artificial assume_aligned
    carries_dependency cleanup cold const constructor deprecated designated_init destructor error
    externally_visible fallthrough flatten format format_arg gnu_inline hot init_priority leaf likely
    malloc may_alias maybe_unused mode ms_struct nodiscard noclone noinline noipa nonnull nonstring
    noreturn nothrow no_instrument_function no_unique_address packed pure returns_nonnull
    returns_twice sentinel target transparent_union type_generic unavailable unlikely unused used
    vector_size visibility warning warn_unused warn_unused_result weak""".split()  # noqa: SIM905
)
#: What only says what a compiler of device code would want to know.
_SILENT = frozenset(
    {"device", "host", "global", "shared", "constant", "managed", "launch_bounds", "device_builtin"}
)
_SUSPICIOUS = re.compile(r"\b(?:__attribute(?:__)?|asm|__asm(?:__)?|_Pragma)\b|\[\s*\[|<:|[\\{}#]")
#: What stands for no hooks.
NO_HOOKS = 'no_sanitize("thread", "undefined"), noinline'
_MOST_TOLD = 16
_MOST_GROUP = 20_000


def guarded(text: str, ours: Mapping[str, str] | None = None) -> tuple[str, tuple[Diagnostic, ...]]:
    """Take out of preprocessed text what is not listed.

    Args:
        text: With CUDA's own syntax rewritten.
        ours: Attribute that the emulator made → what it stands for; names that the submission cannot know.

    Returns:
        The text, of which every line keeps its number, and what was taken out of the submission's files.

    Raises:
        Refusal: Something that no source needs and that hides what it says.
    """
    parts: list[str] = []
    told: list[Diagnostic] = []
    at = 0
    for match in _FOUND.finditer(text):
        if match.start() < at or match.lastgroup in ("literal", "mark", "mark2", "mark3"):
            continue
        kind, start, end = match.lastgroup, match.start(), match.end()
        if kind == "odd":
            raise Refusal(f"'{match[0]}' outside of a literal", *place(text, start))
        new, gone = match[0], ""
        if kind == "directive":
            new, gone = _directive(match[0])
        elif kind == "asm":
            end, new = _assembly(text, end)
        elif (group := _group(text, end if kind == "attribute" else start)) is not None:
            end, inner = group[0], _MARKER_LINE.sub("", group[1])
            given = next((meant for name, meant in (ours or {}).items() if name in inner), None)
            if kind == "attribute" and given is not None:
                new = f"__attribute__(({given}))"
            else:
                new, gone = _attributes(match[0], inner) if kind == "attribute" else _brackets(inner)
        else:
            raise Refusal("an attribute that does not end", *place(text, start))
        if new != text[start:end]:
            parts += [text[at:start], new, _lines(text[start:end], new)]
            at = end
        if gone.strip() and len(told) < _MOST_TOLD:
            file, line = place(text, start)
            told.append(Diagnostic("warning", gone, file.removeprefix("./"), line))
    return "".join([*parts, text[at:]]), tuple(told)


def _lines(old: str, new: str) -> str:
    """What keeps what follows on its line: the newlines, and the last line marker where there was one."""
    markers = list(_MARKER_LINE.finditer(old))
    if not markers:
        return "\n" * (old.count("\n") - new.count("\n"))
    last = markers[-1]
    return f"\n{last[0].strip()}\n" + "\n" * (old.count("\n", last.end()))


def _directive(line: str) -> tuple[str, str]:
    """What stays of a directive, and what is told of the rest."""
    if _MARKER.fullmatch(line) or _KEPT_PRAGMAS.fullmatch(line):
        return line, ""
    words = " ".join(line[1:].split())
    return "", f"#{words[:60]} is left out" if _TOLD_PRAGMAS.fullmatch(line) or "ident" in words[:8] else ""


def _group(text: str, at: int) -> tuple[int, str] | None:
    """End and content of the brackets that open next; two of a kind stand round an attribute."""
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text) or text[at] not in "([":
        return None
    depth, start = 0, at
    while at < min(len(text), start + _MOST_GROUP):
        literal = _LITERAL.match(text, at) if text[at] in "\"'" else None
        if literal is not None:
            at = literal.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
        if depth == 0:
            return at, text[start + 1 : at - 1]
    return None


def _attributes(keyword: str, inner: str) -> tuple[str, str]:
    """``__attribute__((…))`` with those that are listed."""
    group = _group(inner, 0)
    if group is None or inner[group[0] :].strip():
        return "", f"{keyword} is left out"
    kept, gone = _sorted_out(group[1])
    return f"{keyword}(({','.join(kept)}))" if kept or not gone else "", gone


def _brackets(inner: str) -> tuple[str, str]:
    """``[[…]]`` with those that are listed."""
    group = _group(inner, 0)
    if group is None or inner[group[0] :].strip():
        return "", "an attribute is left out"
    prefix = _USING.match(group[1])
    kept, gone = _sorted_out(group[1][prefix.end() if prefix else 0 :])
    return f"[[{prefix[0] if prefix else ''}{','.join(kept)}]]" if kept or not gone else "", gone


def _sorted_out(inner: str) -> tuple[list[str], str]:
    kept: list[str] = []
    gone: list[str] = []
    for each in _separate(inner):
        match = _NAME.match(each)
        name = match[2].strip("_") if match else ""
        if not each.strip():
            continue
        fitting = match is not None and (match.end() == len(each) or each[match.end()] == "(")
        if fitting and name in _KEPT and not _SUSPICIOUS.search(each):
            kept.append(each)
        else:
            gone.append(name or "an attribute")
    told = ", ".join(each for each in gone if each not in _SILENT)
    return kept, f"attribute {told} is left out" if told else " " if gone else ""


def _separate(inner: str) -> Iterator[str]:
    """What stands between commas that no bracket holds."""
    depth, at, start = 0, 0, 0
    while at < len(inner):
        literal = _LITERAL.match(inner, at) if inner[at] in "\"'" else None
        if literal is not None:
            at = literal.end()
            continue
        depth += (inner[at] in "([{") - (inner[at] in ")]}")
        if inner[at] == "," and depth == 0:
            yield inner[start:at]
            start = at + 1
        at += 1
    yield inner[start:]


def _assembly(text: str, at: int) -> tuple[int, str]:
    """End of an ``asm`` and what becomes of it; a label of a function stays, and so does an empty one."""
    start = at
    while word := re.compile(
        r"\s*(?:volatile|__volatile__|__volatile|inline|__inline__|__inline|goto)\b"
    ).match(text, at):
        at = word.end()
    group = _group(text, at)
    if group is None:
        return start, "__builtin_trap()"
    end, inner = group[0], _MARKER_LINE.sub("", group[1])
    template = re.match(r'\s*(?:"(?:\\.|[^"\\])*"\s*)+', inner)
    said = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', template[0])) if template else "?"
    rest = inner[template.end() :] if template else ""
    harmless = said in _HARMLESS and not _SUSPICIOUS.search(rest)
    if harmless or (_LABEL.fullmatch(said) and not rest.strip()):
        return end, f"__asm__{text[start:end]}"
    return end, "__builtin_trap()"
