"""What a cache keeps, entry by entry: bytes, and whether attention ever reads it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.sources import parsed
from judge_tui.checks.tasks.kv.faces.answers import State
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.leaves import Leaf, Path, leaves, roots

__all__ = ["Entry", "entries", "holds_codes", "is_read", "line_of", "total", "words"]

#: From so many alike siblings on (one array per token, per block), they count as one entry.
_MANY = 8


@dataclass(slots=True)
class Entry:
    """One array of a cache, or many alike: one per token, block or sequence.

    Attributes:
        name: Its path in words.
        handles: The arrays.
        nbytes: Of all of them; memory seen through several views counts once.
        shape: Of the first.
        dtype: Of the first.
    """

    name: str
    handles: list[Handle] = field(default_factory=list)
    nbytes: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""

    @property
    def attribute(self) -> str:
        """The innermost name on its path; empty when it has none."""
        parts = self.name.replace("*", "").replace("[", ".").replace("]", "").split(".")
        named = [part for part in parts if part and not part.isdigit()]
        return named[-1] if named else ""


def entries(cached: Cached) -> list[Entry]:
    """The arrays of a cache (of all caches, where every sequence has its own)."""
    found: dict[str, Entry] = {}
    seen: set[int] = set()
    for state in cached.states:
        for path, leaf in _leaves(cached.worker, state):
            nbytes = int(leaf.told.get("base_nbytes", leaf.told.get("nbytes", 0)))
            base = leaf.told.get("base")
            if base in seen:
                nbytes = 0
            elif isinstance(base, int):
                seen.add(base)
            entry = found.setdefault(path, Entry(path, shape=leaf.shape, dtype=leaf.dtype))
            entry.nbytes += nbytes
            if leaf.kind == "array":
                entry.handles.append(leaf.handle)
    return list(found.values())


def total(cached: Cached) -> int:
    """Bytes of all that a cache keeps."""
    return sum(cached.worker.footprint(root) for state in cached.states for root in roots(state))


def holds_codes(worker: Worker, held: Iterable[Handle]) -> bool:
    """Whether some objects have arrays of bytes, as codes of keys and values are."""
    return any(leaf.dtype in ("int8", "uint8") for root in held for leaf in leaves(worker, root))


def _leaves(worker: Worker, state: State) -> Iterator[tuple[str, Leaf]]:
    """Arrays and lists of a cache, with their paths in words."""
    held = roots(state)
    for index, root in enumerate(held):
        listed = [leaf for leaf in leaves(worker, root) if leaf.kind in ("array", "list")]
        prefix: Path = (("i", index),) if len(held) > 1 else ()
        crowded = {len(prefix) + depth for depth in _crowded([leaf.path for leaf in listed])}
        for leaf in listed:
            yield words(prefix + leaf.path, crowded), leaf


def _crowded(paths: Sequence[Path]) -> set[int]:
    """Depths at which a path branches into many alike siblings."""
    crowded: set[int] = set()
    for depth in range(max((len(path) for path in paths), default=0)):
        below: dict[Path, set[Any]] = {}
        for path in paths:
            if len(path) > depth and (path[depth][0] == "i" or isinstance(path[depth][1], int)):
                below.setdefault(path[:depth], set()).add(path[depth][1])
        if any(len(keys) >= _MANY for keys in below.values()):
            crowded.add(depth)
    return crowded


def words(path: Path, crowded: Collection[int] = ()) -> str:
    """A path as it would stand in a source; ``[*]`` at depths that are crowded."""
    told = ""
    for depth, (kind, key) in enumerate(path):
        if depth in crowded:
            told += "[*]"
        elif kind == "a":
            told += f".{key}"
        else:
            told += f"[{key}]"
    return told.lstrip(".") or "the cache itself"


def is_read(run: Any, cached: Cached, entry: Entry, truth: np.ndarray[Any, Any]) -> bool:
    """Whether an answer changes when an entry is overwritten in place.

    Args:
        run: ``run(cached)`` gives the answer.
        cached: A cache that was fed as the one that gave ``truth``.
        entry: One of its entries.
        truth: The answer with nothing overwritten.
    """
    with Guess(cached.worker):
        for handle in entry.handles:
            cached.worker.fill(handle)
        return not np.array_equal(run(cached), truth)
    return True


def line_of(bench: Bench, file: str, attribute: str) -> int | None:
    """Where ``attribute`` (or a key of that name) is first assigned."""
    if not attribute:
        return None
    try:
        tree = parsed(bench.submission.read_bytes(file))
    except SyntaxError:
        return None
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr) and _sets(node, attribute)]
    return min(lines, default=None)


def _sets(node: ast.expr, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == name and isinstance(node.ctx, ast.Store)
    if isinstance(node, ast.Name):
        return node.id == name and isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Constant) and node.value == name
