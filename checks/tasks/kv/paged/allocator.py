"""What hands out blocks by number, beside a pool that is told which: each once, and again once free."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge_tui.checks.calling.remote import Handle, Target, Worker
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.tasks.kv.paged.job import Job

__all__ = ["judge_allocator"]

_CLASS = re.compile(r"(?i)alloc|block|page|pool|free_?list")
#: What may give a count, or a block that is looked up, says that a block is taken.
_TAKES = re.compile(
    r"(allocate|alloc|acquire)(_(free_|new_)?(block|page)(_id)?)?|"
    r"(take|get|pop|reserve|new)_(free_|new_)?(block|page)(_id)?"
)
_GIVES = re.compile(r"(free|release|de_?alloc(ate)?|give_back|put_back|return)(_(block|page)(_id)?)?")
_TOTAL = re.compile(r"(num_|n_|total_|max_)?(blocks|pages)|(num|n|total|max)(blocks|pages)|capacity|size")
_BLOCK = re.compile(r"(block|page)_?(size|len|length)|tokens_per_(block|page)")
_BLOCKS, _BLOCK_SIZE, _SECONDS = 6, 4, 5.0
_RIGHT = "each once, and once more when free"


@dataclass(frozen=True, slots=True)
class _Allocator:
    """A class that hands out blocks; ``sizes`` are what it is made of, by keyword."""

    file: str
    name: str
    line: int
    take: str
    give: str
    sizes: Mapping[str, int]


def judge_allocator(job: Job) -> bool:
    """Hold what hands out blocks by number, where there is one.

    Returns:
        Whether there is.
    """
    for allocator in _allocators(job):
        try:
            wrong = _wrong(job.bench.worker, allocator)
        except Fault:
            continue
        job.found.claim(
            f"blocks that {allocator.name} hands out", not wrong, measured=wrong or _RIGHT, limit=_RIGHT,
            file=allocator.file, line=allocator.line or None,
        )  # fmt: skip
        if wrong:
            job.wrong.append(f"{allocator.name}: {wrong}")
        else:
            job.said.append(f"{allocator.name} hands out each block once, and once more when it is free")
        return True
    return False


def _allocators(job: Job) -> Iterator[_Allocator]:
    for file, inventory in job.bench.worker.loaded.items():
        for cls in inventory.get("classes", ()):
            if not _CLASS.search(cls["name"]):
                continue
            own = {m["name"]: m["params"] for m in cls["methods"] if m["params"] is not None}
            takes = [n for n, params in own.items() if _TAKES.fullmatch(n) and not _needed(params[1:])]
            gives = [n for n, params in own.items() if _GIVES.fullmatch(n) and len(_needed(params[1:])) == 1]
            sizes = _sizes(cls["params"] or ())
            if takes and gives and sizes is not None:
                yield _Allocator(file, cls["name"], cls["line"], takes[0], gives[0], sizes)


def _needed(params: Any) -> list[Any]:
    return [param for param in params if "default" not in param]


def _sizes(params: Any) -> dict[str, int] | None:
    """What it is told, by keyword; ``None`` where it asks for something else."""
    told: dict[str, int] = {}
    for param in params:
        name = str(param["name"])
        if _TOTAL.fullmatch(name):
            told[name] = _BLOCKS
        elif _BLOCK.fullmatch(name):
            told[name] = _BLOCK_SIZE
        elif "default" not in param:
            return None
    return told if _BLOCKS in told.values() else None


def _wrong(worker: Worker, allocator: _Allocator) -> str:
    """What is wrong with it, as a clause.

    Raises:
        Fault: It is something else: it does not hand out numbers.
    """
    made = worker.call(Target(allocator.file, allocator.name), (), allocator.sizes, budget=_SECONDS).handle
    taken = [_taken(worker, allocator, made) for _block in range(_BLOCKS)]
    blocks = [block for block in taken if block is not None]
    if not blocks:
        raise Fault("hands out no numbers")
    # one may be set aside, for what no sequence owns
    if len(blocks) < _BLOCKS - 1:
        return f"told of {_BLOCKS} blocks, it hands out {len(blocks)}"
    if twice := sorted({block for block in blocks if blocks.count(block) > 1}):
        return f"block {twice[0]} is handed out twice, with nothing given back"
    more = _taken(worker, allocator, made)
    if more in blocks:
        return f"when all are taken, block {more} is handed out again"
    if more is not None:
        # it makes more of them, and need not come back to those that are given back
        return ""
    freed = {blocks[1], blocks[4]}
    for block in freed:
        _given(worker, allocator, made, block)
    again = {_taken(worker, allocator, made) for _block in freed}
    if again != freed:
        return f"blocks {sorted(freed)} were given back, and do not come again"
    _given(worker, allocator, made, blocks[2])
    try:
        _given(worker, allocator, made, blocks[2])
    except Raised:
        return ""
    if _taken(worker, allocator, made) == _taken(worker, allocator, made) == blocks[2]:
        return f"block {blocks[2]} is freed twice without an error, and then handed out to two at once"
    return ""


def _taken(worker: Worker, allocator: _Allocator, made: Handle) -> int | None:
    """A block, or ``None`` for a refusal, however it is said."""
    try:
        handle = worker.call(made, method=allocator.take, budget=_SECONDS).handle
    except Raised:
        return None
    value = worker.value(handle)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _given(worker: Worker, allocator: _Allocator, made: Handle, block: int) -> None:
    worker.call(made, (block,), method=allocator.give, budget=_SECONDS)
