"""Grid, block and shared memory of a kernel that no host function launches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.definitions import Function, Launch, named
from judge_tui.checks.cuda.reading import Reading
from judge_tui.checks.tasks.fuse.launcher import Launcher
from judge_tui.checks.tasks.fuse.signature import INTEGERS, means

__all__ = ["configurations"]

_KNOWN = frozenset({"rows", "B", "T", "V", "K", "dim3", "sizeof", "float", "int", "unsigned", "size_t", "std",
                    "min", "max", "static_cast", "long", "uint32_t", "int32_t"})  # fmt: skip
_LOCAL = r"(?:^|[;{{}}(,\s]){name}\s*(?:=\s*([^;,]+(?:\([^;]*\))?)|(\([^;]*\)))\s*[;,]"
_ROWS_PER_BLOCK = re.compile(r"blockIdx\.x\s*\*\s*([A-Za-z_][\w.]*|\([^()]*\))")
#: A thread's number among all of the grid, and that number by warps.
_THREAD = r"blockIdx\.x\s*\*\s*blockDim\.x\s*\+\s*threadIdx\.x"
_NAMED_THREAD = re.compile(rf"(\w+)\s*=\s*\(?\s*{_THREAD}\s*\)?\s*;")
_BY_WARPS = r"\s*\)?\s*(?:/\s*(?:32|warpSize|\w*WARP\w*)|>>\s*5)"
_WARP = 32
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
    own = [launch for launch in reading.launches if launch.kernel.rpartition("::")[2] == kernel.short]
    for launch in sorted(own, key=lambda launch: _filled_otherwise(reading, launch, plain)):
        if made := _as_launched(reading, launch):
            grid, block, shared = made
            told = f"launched at {launch.file}:{launch.line}"
            yield replace(plain, grid=grid, block=block, shared=shared, why=told)
    yield from _by_rule(reading, kernel, plain)


def _filled_otherwise(reading: Reading, launch: Launch, plain: Launcher) -> bool:
    """Whether a launch is of an instantiation with another number: its block may follow from that."""
    pairs = zip(launch.template, plain.template, strict=False)
    numbers = [(integer(given, reading.constants), asked) for given, asked in pairs if asked != "K"]
    return any(given is not None and str(given) != asked for given, asked in numbers)


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
    # who never speaks of T has rows in a batch, and not sequences
    several = within is not None and any(
        means(each.name) == "T" and each.type in INTEGERS for each in within.parameters
    )
    if not several and not re.search(r"\bT\b", grid):
        grid = re.sub(r"\bB\b", "rows", grid)
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
    two = "threadIdx.y" in kernel.body
    for threads, count in _shapes(reading, kernel, template):
        grid = "rows" if count == 1 else f"(rows + {count - 1}) / {count}"
        block = f"dim3(32, {count})" if two else str(threads)
        why = f"by rule: {'a block per row' if count == 1 else f'{count} rows per block'}"
        doubts = (*plain.doubts, "its grid and block")
        yield replace(plain, grid=grid, block=block, shared=shared, why=why, doubts=doubts)
        if two:
            return


def _shapes(reading: Reading, kernel: Function, template: dict[str, str]) -> Iterator[tuple[int, int]]:
    """Threads and rows of a block, likeliest first."""
    text = next(_factors(reading, kernel, template), "1")
    fixed = "blockDim.x" not in text
    rows = integer(text, reading.constants) if fixed else None
    for threads in _block_sizes(reading, kernel, template, rows or 1):
        count = rows if fixed else _evaluated(text, threads, reading)
        if count is not None and count >= 1:
            yield threads, count


def _factors(reading: Reading, kernel: Function, template: dict[str, str]) -> Iterator[str]:
    """What the kernel multiplies its block's number with to get a row's: a number, or of the block's size."""
    for match in _ROWS_PER_BLOCK.finditer(kernel.body):
        text = template.get(match[1], match[1])
        if text == "blockDim.y":
            text = "4"
        elif text == "blockDim.x" and _counts_warps(kernel.body):
            text = "blockDim.x / 32"
        if text.isidentifier() and integer(text, reading.constants) is None:
            # The length of a row leads to its logits, and is no number of rows.
            text = "" if means(text) else _set_to(text, kernel.body)
        if _evaluated(text, _WARP, reading) is not None:
            yield text


def _counts_warps(body: str) -> bool:
    """Whether threads of the grid are counted by warps: a warp to a row."""
    named_ = _NAMED_THREAD.search(body)
    return bool(
        re.search(_THREAD + _BY_WARPS, body)
        or (named_ and re.search(rf"\b{re.escape(named_[1])}\b{_BY_WARPS}", body))
    )


def _evaluated(text: str, threads: int, reading: Reading) -> int | None:
    """Rows per block for so many threads."""
    plain = text.replace("blockDim.x", str(threads)).replace("warpSize", str(_WARP))
    plain = re.sub(r">>\s*(\d)\b", lambda m: f"/ {1 << int(m[1])}", plain)
    return integer(plain, reading.constants)


def _block_sizes(reading: Reading, kernel: Function, template: dict[str, str], rows: int) -> Iterator[int]:
    """Threads of a block, likeliest first."""
    found: dict[int, None] = {}
    for bound in kernel.bounds[:1]:
        text = bound
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
