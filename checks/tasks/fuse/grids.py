"""Grid, block and shared memory of a kernel that no host function launches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.definitions import Function, Launch, named
from judge_tui.checks.cuda.reading import Reading
from judge_tui.checks.tasks.fuse.launcher import Launcher
from judge_tui.checks.tasks.fuse.signature import means

__all__ = ["configurations"]

_KNOWN = frozenset({"rows", "B", "T", "V", "K", "dim3", "sizeof", "float", "int", "unsigned", "size_t", "std",
                    "min", "max", "static_cast", "long", "uint32_t", "int32_t"})  # fmt: skip
_LOCAL = r"(?:^|[;{{}}(,\s]){name}\s*(?:=\s*([^;,]+(?:\([^;]*\))?)|(\([^;]*\)))\s*[;,]"
_ROWS_PER_BLOCK = re.compile(r"blockIdx\.x\s*\*\s*([A-Za-z_][\w.]*)")
_THREADS = re.compile(r"THREADS|BLOCK_?(?:SIZE|DIM)|NTHREADS|TPB", re.I)
_DEPTH = 5
#: Dynamic shared memory where nothing tells how much: what a launch may ask for without more ado.
_SHARED = "40960"


def configurations(reading: Reading, kernel: Function, plain: Launcher) -> Iterator[Launcher]:
    """The launch configurations that a kernel may mean: as tests launch it, then by rule.

    Args:
        reading: Of the sources.
        kernel: The kernel.
        plain: A launcher without a configuration.
    """
    for launch in reading.launches:
        if launch.kernel.rpartition("::")[2] == kernel.short and (made := _as_launched(reading, launch)):
            grid, block, shared = made
            told = f"launched at {launch.file}:{launch.line}"
            yield replace(plain, grid=grid, block=block, shared=shared, why=told)
    yield from _by_rule(reading, kernel, plain)


def _as_launched(reading: Reading, launch: Launch) -> tuple[str, str, str] | None:
    """A launch's configuration in the contract's words; ``None`` where it depends on something else."""
    within = next(iter(named(reading.functions, launch.within)), None)
    body = within.body if within else ""
    parts = [*launch.configuration[:3]]
    parts += ["0"] * (3 - len(parts))
    told = [_expanded(part, body, reading) for part in parts]
    if any(each is None for each in told):
        return None
    grid, block, shared = (each or "0" for each in told)
    return grid, block, shared


def _expanded(text: str, body: str, reading: Reading, depth: int = _DEPTH) -> str | None:
    """An expression with local variables replaced by what they are set to."""
    if depth == 0 or len(text) > 400:
        return None
    result = text
    for name in dict.fromkeys(re.findall(r"(?<![\w.:])([A-Za-z_]\w*)(?!\s*::)", text)):
        if name in _KNOWN:
            continue
        value = integer(name, reading.constants)
        if value is not None:
            meaning = str(value)
        elif told := means(name):
            meaning = "(B * T)" if told == "stride" else told
        else:
            inner = _set_to(name, body)
            made = _expanded(inner, body, reading, depth - 1) if inner else None
            if made is None:
                return None
            meaning = f"({made})"
        result = re.sub(rf"(?<![\w.:]){name}\b", meaning, result)
    return result


def _set_to(name: str, body: str) -> str:
    match = re.search(_LOCAL.format(name=re.escape(name)), body)
    if match is None:
        return ""
    return match[1] or f"dim3{match[2]}"


def _by_rule(reading: Reading, kernel: Function, plain: Launcher) -> Iterator[Launcher]:
    """One block per row, or as many rows as the kernel multiplies its block's number with."""
    shared = _SHARED if re.search(r"extern\s+__shared__", kernel.body) else "0"
    template = {p.name: value for p, value in zip(kernel.template, plain.template, strict=True)}
    factor = _ROWS_PER_BLOCK.search(kernel.body)
    per_block = factor[1] if factor else "1"
    two = "threadIdx.y" in kernel.body
    if per_block == "blockDim.y":
        per_block = "4"
    elif per_block == "blockDim.x":
        return
    else:
        per_block = template.get(per_block, per_block)
    count = integer(per_block, reading.constants)
    if count is None or count < 1:
        return
    grid = "rows" if count == 1 else f"(rows + {count - 1}) / {count}"
    for threads in _block_sizes(reading, kernel, template, count):
        block = f"dim3(32, {count})" if two else str(threads)
        why = f"by rule: {'a block per row' if count == 1 else f'{count} rows per block'}"
        doubts = (*plain.doubts, "its grid and block")
        yield replace(plain, grid=grid, block=block, shared=shared, why=why, doubts=doubts)
        if two:
            return


def _block_sizes(reading: Reading, kernel: Function, template: dict[str, str], rows: int) -> Iterator[int]:
    """Threads of a block, likeliest first."""
    found: dict[int, None] = {}
    for text in kernel.bounds[:1]:
        for name, value in template.items():
            text = re.sub(rf"\b{name}\b", value, text)
        if value_ := integer(text, reading.constants):
            found.setdefault(value_)
    for name, text in (*template.items(), *reading.constants.items()):
        if _THREADS.search(name) and (value_ := integer(text, reading.constants)):
            found.setdefault(value_)
    for usual in (32 * rows,) if rows > 1 else (256, 128, 32):
        found.setdefault(usual)
    yield from (each for each in found if 1 <= each <= 1024)
