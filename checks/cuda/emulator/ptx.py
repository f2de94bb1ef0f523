"""Inline PTX of one instruction, as C++ that does the same; what is not known here is refused.

Source: NVIDIA, Parallel Thread Execution ISA.
"""

from __future__ import annotations

import re

__all__ = ["emulated"]

_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_OPERAND = re.compile(r'"[=+]?&?[a-z]"\s*\(')
_WIDTHS = {"f32": "float", "u32": "unsigned", "s32": "int", "b32": "unsigned", "f64": "double",
           "u64": "unsigned long long", "s64": "long long", "b64": "unsigned long long"}  # fmt: skip
_SPECIAL = {
    "%laneid": "emu_lane()",
    "%warpid": "(emu_thread() / 32u)",
    "%lanemask_eq": "(1u << emu_lane())",
    "%lanemask_lt": "((1u << emu_lane()) - 1u)",
    "%lanemask_le": "((2u << emu_lane()) - 1u)",
    "%lanemask_gt": "~((2u << emu_lane()) - 1u)",
    "%lanemask_ge": "~((1u << emu_lane()) - 1u)",
    "%smid": "(blockIdx.x % 132u)",
    "%clock": "unsigned(emu_clock())",
    "%clock64": "emu_clock()",
    "%globaltimer": "emu_clock()",
}
_UNARY = {
    "ex2.approx": "::exp2f({})",
    "lg2.approx": "::log2f({})",
    "rcp.approx": "(1.0f / ({}))",
    "rcp.rn": "(1.0f / ({}))",
    "sqrt.approx": "::sqrtf({})",
    "sqrt.rn": "::sqrtf({})",
    "rsqrt.approx": "::rsqrtf({})",
    "tanh.approx": "::tanhf({})",
    "sin.approx": "::sinf({})",
    "cos.approx": "::cosf({})",
}
_LOAD = re.compile(
    r"(?:ld\.(?:volatile\.)?global|ldu\.global)(?:\.(?!v[24]|[fusb]\d)[\w:]+)*(?:\.v([24]))?\.([fusb]\d+)\s+"
    r"\{?([%\d,\s]+?)\}?\s*,\s*\[\s*%(\d+)\s*\]"
)
#: Fences that other blocks see.
_FENCE = re.compile(r"membar\.(?:gl|sys)|fence(?:\.\w+)*\.(?:gpu|sys)(?:\.\w+)*")
_NOTHING = re.compile(r"(?:prefetch\w*|membar|fence|discard)\b.*")
_COPY = re.compile(
    r"cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\w+)*\s*"
    r"\[\s*(%\d+)\s*\]\s*,\s*\[\s*(%\d+)\s*\]\s*,\s*(%?\d+)(?:\s*,\s*(%?\d+))?"
)


def emulated(statement: str) -> str | None:
    """Translate what stands between the parentheses of an ``asm`` statement.

    Args:
        statement: Template, outputs, inputs and clobbers.

    Returns:
        A C++ expression, or ``None`` for what is not known.
    """
    template, operands = _parts(statement)
    code = template.strip().rstrip(";").strip()
    if _FENCE.fullmatch(code):
        return "emu_fence()"
    if not code or _NOTHING.fullmatch(code):
        return "((void)0)"
    if ";" in code or "\n" in code:
        return None
    known = (_moved, _computed, _loaded, _copied)
    return next(filter(None, (each(code, operands) for each in known)), None) or _barrier(code)


def _parts(statement: str) -> tuple[str, list[str]]:
    """The template, its literals joined and unescaped, and the operands' expressions."""
    head = re.match(r'(?:\s*"(?:\\.|[^"\\])*")+', statement)
    if head is None:
        return statement, []
    template = "".join(_STRING.findall(head[0]))
    template = template.replace("\\n", "\n").replace("\\t", " ").replace("%%", "%")
    operands: list[str] = []
    for match in _OPERAND.finditer(statement, head.end()):
        depth, at = 1, match.end()
        while at < len(statement) and depth:
            depth += {"(": 1, ")": -1}.get(statement[at], 0)
            at += 1
        operands.append(statement[match.end() : at - 1])
    return template.strip("\n "), operands


def _operand(name: str, operands: list[str]) -> str | None:
    number = name.strip().removeprefix("%")
    return operands[int(number)] if number.isdigit() and int(number) < len(operands) else None


def _moved(code: str, operands: list[str]) -> str | None:
    match = re.fullmatch(r"mov\.\w+\s+(%\d+)\s*,\s*(%\w+)", code)
    if match is None:
        return None
    target, source = _operand(match[1], operands), _SPECIAL.get(match[2]) or _operand(match[2], operands)
    return f"(({target}) = {source})" if target and source else None


def _computed(code: str, operands: list[str]) -> str | None:
    match = re.fullmatch(r"([a-z0-9]+\.[a-z]+)(?:\.ftz)?\.f32\s+(%\d+)\s*,\s*(%\d+)", code)
    if match is None or match[1] not in _UNARY:
        return None
    target, source = _operand(match[2], operands), _operand(match[3], operands)
    return f"(({target}) = {_UNARY[match[1]].format(source)})" if target and source else None


def _loaded(code: str, operands: list[str]) -> str | None:
    match = _LOAD.fullmatch(code)
    if match is None or match[2] not in _WIDTHS:
        return None
    count, kind = int(match[1] or 1), _WIDTHS[match[2]]
    targets = [_operand(name, operands) for name in match[3].split(",")]
    address = _operand(match[4], operands)
    if address is None or len(targets) != count or None in targets:
        return None
    loads = [f"({target}) = emu::load((const {kind}*)emu_p + {i});" for i, target in enumerate(targets)]
    access = "emu::READ | emu::ATOMIC" if ".volatile." in code else "emu::READ"
    check = f"emu_access(emu_p, {count} * sizeof({kind}), {access}, emu::here());"
    return f"({{ const void* emu_p = (const void*)({address}); {check} {' '.join(loads)} }})"


def _copied(code: str, operands: list[str]) -> str | None:
    """Asynchronous copies, their batches and the waiting for them."""
    if code == "cp.async.commit_group":
        return "emu_copies_commit()"
    if code == "cp.async.wait_all":
        return "emu_copies_wait_all()"
    if match := re.fullmatch(r"cp\.async\.wait_group\s+(%?\d+)", code):
        return _called("emu_copies_wait", [_number(match[1], operands)])
    match = _COPY.fullmatch(code)
    if match is None:
        return None
    to, source = _operand(match[1], operands), _operand(match[2], operands)
    bytes_, read = _number(match[3], operands), _number(match[4] or match[3], operands)
    if None in (to, source, bytes_, read):
        return None
    return (
        f"emu_copy_late(emu_shared_address({to}), (const void*)({source}), {bytes_}, ({bytes_}) - ({read}), "
        "emu::here())"
    )


def _called(function: str, arguments: list[str | None]) -> str | None:
    return None if None in arguments else f"{function}({', '.join(filter(None, arguments))})"


def _number(text: str, operands: list[str]) -> str | None:
    """A number that stands in the template, or the operand that it names."""
    return _operand(text, operands) if text.startswith("%") else text


def _barrier(code: str) -> str | None:
    if re.fullmatch(r"(?:bar\.sync|barrier\.sync(?:\.aligned)?)\s+0", code):
        return "__syncthreads()"
    if match := re.fullmatch(r"bar\.warp\.sync\s+(0x[0-9a-fA-F]+|-?\d+)", code):
        return f"__syncwarp((unsigned){match[1]})"
    if match := re.fullmatch(r"(?:bar\.sync|barrier\.sync(?:\.aligned)?)\s+(\d+)\s*,\s*(\d+)", code):
        return f"emu_named_barrier({match[1]}, {match[2]}, emu::here())"
    return 'emu_trap(emu::here(), "trap")' if code in ("trap", "brkpt") else None
