"""Whether the forward keeps for the backward what the backward needs, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.backwards.entries import Entry, measured
from judge_tui.checks.tasks.backwards.meaning import derivable, meanings, minimal_bytes
from judge_tui.checks.tasks.backwards.passes import eps_of
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.tasks.backwards.storing import entry_name, stored_at, unpacked
from judge_tui.checks.tasks.backwards.weighed import weighed
from judge_tui.checks.verdict import Verdict

__all__ = ["cache_minimality"]

#: B, T and D that cannot be taken for each other, so that an entry can be told by its numbers.
_AXES = ((2, 4), (5, 6), (7, 9))


@check(
    "cache_minimality",
    "what the cache holds",
    establishes="Every array of the cache is used by the backward, none follows from the others, and they "
    "are neither fewer than dx needs nor, by the kernel's count too, over twice the least bytes.",
    roles=("forward", "backward"),
    version=2,
)
def cache_minimality(bench: Bench, found: Findings) -> str:
    """Poison and change every entry of the cache, and see whether a gradient moves."""
    batch = _draw(bench.rng("batch"), bench.sizes("batch").shape(*_AXES), eps_of(bench, 1e-3))
    entries = measured(bench, batch)
    what = meanings(entries, batch)
    names = _names(bench, entries)
    spare = derivable(entries, what, batch)
    dead = [i for i, entry in enumerate(entries) if not entry.used]
    worst = sorted(dead, key=lambda i: (bool(_free(entries, i)) or not entries[i].sized, i))
    held = sum(e.nbytes for i, e in enumerate(entries) if e.twin is None)
    least = minimal_bytes(batch, False)
    found.note(
        "entries of the cache", len(entries), unit="entries", table=_table(entries, names, what, spare)
    )
    found.note(
        f"bytes that the cache keeps alive at {batch.shape}",
        held,
        limit=least,
        unit="B",
        note=f"{held / least:.2f} times the least: x̂ (B, T, D), rstd (B, T) and gamma (D)",
    )
    if len(dead) == len(entries):
        found.claim("the gradients depend on the cache", False, measured="no entry is used")
    for index in worst:
        _judge_dead(bench, found, entries, index, names[index])
    for index in spare:
        file, line = stored_at(bench, entries[index].path)
        note = f"it is {what[index]}" if what[index] else "its size is another entry's"
        quantity = f"{names[index]} follows from the other entries"
        found.claim(
            quantity,
            False,
            measured=_size(entries[index]),
            otherwise=Verdict.WARN,
            file=file,
            line=line,
            note=note,
        )
    if not dead and not spare:
        found.claim("every entry is used and none is derivable", True, measured=len(entries), unit="entries")
    told = _summary(entries, names, dead, spare, held / least)
    seen = weighed(bench, found, entries, batch)
    return f"{told}; {seen}" if seen else told


def _draw(rng: np.random.Generator, shape: tuple[int, ...], eps: float) -> Batch:
    D = shape[-1]
    spread = rng.uniform(0.5, 2.0, (*shape[:2], 1))
    x = spread * (rng.standard_normal(shape) + rng.uniform(-2.0, 2.0, spread.shape))
    gamma = rng.uniform(0.5, 2.0, D) * rng.choice([-1.0, 1.0], D)
    return Batch(x, gamma, rng.standard_normal((D,)), eps, rng.standard_normal(shape))


def _names(bench: Bench, entries: Sequence[Entry]) -> list[str]:
    first = (next((int(key) for kind, key in entry.path if kind == "i"), -1) for entry in entries)
    count = 1 + max(first, default=-1)
    variables = unpacked(bench, count) if count else ()
    return [entry_name(entry.path, variables) for entry in entries]


def _free(entries: Sequence[Entry], index: int) -> str:
    """Why an entry costs no bytes; empty when it does."""
    entry = entries[index]
    if entry.alias:
        return f"the caller's {entry.alias[0]}"
    group = {
        index,
        entry.twin,
        *(i for i, e in enumerate(entries) if e.twin in (index, entry.twin) and e.twin is not None),
    }
    if any(i is not None and entries[i].used for i in group):
        return "the memory of another entry"
    return ""


def _judge_dead(bench: Bench, found: Findings, entries: Sequence[Entry], index: int, name: str) -> None:
    entry = entries[index]
    free = _free(entries, index)
    lenient = bool(free) or not entry.sized or entry.steadies
    file, line = stored_at(bench, entry.path)
    note = "only rounding hangs on it: what it changes is taken back" if entry.steadies else ""
    note = note or (
        "NaN in its place shows, other numbers do not: it is read and does not matter" if entry.read else ""
    )
    note = note or (
        f"it is {free}, so it costs no bytes" if free else "nothing in its place changes a gradient"
    )
    found.claim(
        f"{name} is used by the backward",
        False,
        measured=_size(entry),
        otherwise=Verdict.WARN if lenient else Verdict.FAIL,
        file=file,
        line=line,
        note=note,
    )


def _size(entry: Entry) -> str:
    return f"{entry.nbytes} B" if entry.sized else entry.kind


def _table(
    entries: Sequence[Entry], names: Sequence[str], what: Sequence[str], spare: Sequence[int]
) -> tuple[tuple[str, ...], ...]:
    def yes(value: bool) -> str:
        return "yes" if value else "no"

    rows = [("entry", "is", "shape", "bytes", "read", "used", "alias of", "derivable")]
    for index, (entry, name) in enumerate(zip(entries, names, strict=True)):
        shape = "×".join(map(str, entry.shape)) if entry.shape else entry.kind
        twin = (names[entry.twin],) if entry.twin is not None and not entry.alias else ()
        alias = ", ".join((*entry.alias, *twin))
        size = str(entry.nbytes) if entry.nbytes else ""
        derived = yes(index in spare) if entry.used else ""
        rows.append((name, what[index], shape, size, yes(entry.read), yes(entry.used), alias, derived))
    return tuple(rows)


def _summary(
    entries: Sequence[Entry], names: Sequence[str], dead: Sequence[int], spare: Sequence[int], ratio: float
) -> str:
    count = f"{len(entries)} entries" if len(entries) != 1 else "1 entry"
    size = f"{ratio:.2f} × the least bytes"
    if dead:
        told = ", ".join(names[i] for i in dead)
        text = f"{count}, {len(dead)} never used: {told}; {size}"
    else:
        text = f"{count}, every one used; {size}"
    if spare:
        text += f"; derivable: {', '.join(names[i] for i in spare)}"
    return text
