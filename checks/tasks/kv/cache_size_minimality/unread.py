"""Entries of a cache that its attention never reads."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import Entry, entries, is_read, line_of
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: Tokens behind which entries are looked for that are never read; again behind more, and the most.
_READ, _READ_ON, _READ_MOST = 8, 40, 257
#: The number of a block, wherever it stands on the way to an array: ``blocks[4].k``, ``keys[4]``.
_INDEX = re.compile(r"\[\d+\]")


def judge(subject: Subject, found: Findings, sizes: Sizes) -> list[str]:
    """Tell the entries of the size of the data that attention never reads, few tokens or many.

    Args:
        subject: The submission's cache.
        found: Gathers the evidence.
        sizes: What a cache is made for, but for its room.
    """
    listed, unread, rows = _never_read(subject, sizes, _READ)
    for tokens in _read_on(subject) if unread else ():
        # where the newest are kept apart, few tokens lie there alone
        with suppress(Raised, BadResult, Skipped):
            names = {entry.name for entry in _never_read(subject, sizes, tokens, {e.name for e in unread})[1]}
            unread = [entry for entry in unread if entry.name in names]
    for entry in unread:
        where = subject.where("create", "append", "step")
        line = line_of(subject.bench, where["file"], entry.attribute) if where else None
        found.claim(
            f"{entry.name} {entry.shape} is read by attention", False, measured="never read", limit="read",
            **{**where, **({"line": line} if line else {})},
        )  # fmt: skip
    if not unread:
        found.claim(
            "entries of the size of the data that attention never reads", True, measured=0, limit=0,
            unit="entries", table=tuple(rows),
        )  # fmt: skip
    else:
        found.note("entries", len(listed), unit="entries", table=tuple(rows))
    return [f"{entry.name} {entry.shape} is never read" for entry in unread]


def _read_on(subject: Subject) -> list[int]:
    """Tokens behind which an entry may be read that was not behind a few: past integers of the source."""
    past = {4 * one.value + 1 for one in subject.bench.integers if _READ < 4 * one.value < _READ_MOST}
    return [_READ_ON, *sorted(past - {_READ_ON})[-1:]]


def _never_read(
    subject: Subject, sizes: Sizes, tokens: int, names: Collection[str] = ()
) -> tuple[list[Entry], list[Entry], list[tuple[str, ...]]]:
    """Entries of the size of the data, or of these names; those that are not read; and both as a table."""
    sizes = replace(sizes, max_len=tokens + 4)
    q, k, v = drawn(subject.bench.rng("read"), sizes, tokens + 1)
    one_part = tokens * sizes.batch * sizes.heads * sizes.head_dim * 4

    def fed() -> Cached:
        cached = subject.cached(sizes)
        cached.feed(*(x[:, :, :tokens] for x in (q, k, v)), whole=False)
        return cached

    def run(cached: Cached) -> Array:
        # what feeding hands out may be a copy, so that only the next one shows what the cache holds
        handed_out = cached.mode in ("attention", "read") and "read" not in cached.bound
        if handed_out or not (cached.attends_again or cached.mode in ("attention", "read")):
            out = cached.feed(*(x[:, :, tokens:] for x in (q, k, v)))
            if cached.mode != "read":
                return out
        if cached.mode == "read":
            return np.concatenate([part for b in range(sizes.batch) for part in cached.stored(b)])
        return cached.attend(q[:, :, tokens - 1 : tokens], None, np.ones(sizes.batch, np.int64))

    plain = fed()
    listed = [
        entry
        for entry in entries(plain)
        if entry.handles and (entry.name in names if names else entry.nbytes >= 0.25 * one_part)
    ]
    rows: list[tuple[str, ...]] = [("entry", "shape", "dtype", "bytes", "read")]
    truth, unread = run(plain), []
    for entry in listed[:12]:
        again = fed()
        same = next((other for other in entries(again) if other.name == entry.name), None)
        read = same is None or is_read(run, again, same, truth)
        rows.append(
            (entry.name, str(entry.shape), entry.dtype, str(entry.nbytes), "yes" if read else "never")
        )
        if not read:
            unread.append(entry)
    return listed, [entry for entry in unread if not _free_block(subject, entry, listed, unread)], rows


def _free_block(subject: Subject, entry: Entry, listed: list[Entry], unread: list[Entry]) -> bool:
    """Whether an entry is a block that no sequence has yet: one of a pool's of which others are read."""
    create = subject.bound.get("create")
    if create is None or not (create.takes("blocks") or create.takes("blocks_and_one")):
        return False
    way = _INDEX.sub("[]", entry.name)
    alike = [e for e in listed if e.shape == entry.shape and _INDEX.sub("[]", e.name) == way]
    return any(e not in unread for e in alike)
