"""What a pool is told whose blocks the caller chooses: where tokens go, and which blocks hold a sequence.

Tables and free lists are ours: the submission looks blocks up, and never hands one out. Blocks of one
sequence are scattered over the pool, so that it shows where they are not looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.kv.words.block_roles import CHOSEN
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["CALLERS", "Held", "chooses", "of_rows", "scattered", "told"]

#: What is true of every such pool.
CALLERS = "the caller chooses the blocks"


@dataclass(frozen=True, slots=True)
class Held:
    """A sequence in the blocks of a pool.

    Attributes:
        table: Its blocks, in its own order.
        stored: Tokens before the call.
        new: Tokens that the call adds.
    """

    table: Sequence[int]
    stored: int
    new: int = 0


def chooses(bound: Mapping[str, Binding]) -> bool:
    """Whether one of the calls is told of blocks by the caller."""
    return any(binding.takes(name) for binding in bound.values() for name in CHOSEN)


def scattered(blocks: int) -> list[int]:
    """All blocks of a pool in an order in which no two of a sequence lie side by side; always the same."""
    return [int(block) for block in np.random.default_rng(blocks).permutation(blocks)]


def told(rows: Sequence[Held], block_size: int) -> dict[str, Any]:
    """All that a call may ask for about sequences; what asks for one of them gets the first."""
    places = [
        (row.table[at // block_size], at % block_size)
        for row in rows
        for at in range(row.stored, row.stored + row.new)
    ]
    blocks, offsets = np.array(places, np.int64).reshape(-1, 2).T
    slots = blocks * block_size + offsets
    first = places[0] if places else (0, 0)
    totals = np.array([row.stored + row.new for row in rows], np.int64)
    tables = _padded([row.table for row in rows])
    return {
        "block": first[0], "offset": first[1], "slot": first[0] * block_size + first[1],
        "token_blocks": np.ascontiguousarray(blocks), "token_offsets": np.ascontiguousarray(offsets),
        "slots": slots, "table": np.array(rows[0].table, np.int64), "tables": tables,
        # another layer's part stands before ours, and names other blocks and lengths
        "layer_tables": np.stack([tables[:, ::-1], tables]), "layer_totals": np.stack([totals // 2, totals]),
        "table_layer": 1, "longest": int(totals.max()), "totals": totals, "length": int(totals[0]),
        "positions": np.array([row.stored for row in rows], np.int64),
    }  # fmt: skip


def _padded(tables: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """Tables as rows of one array; behind the shorter ones stands block 0, as good as any."""
    rows = np.zeros((len(tables), max(len(table) for table in tables)), np.int64)
    for row, table in zip(rows, tables, strict=True):
        row[: len(table)] = table
    return rows


def of_rows(sizes: Sizes, stored: Sequence[int], new: Sequence[int], first: int) -> dict[str, Any]:
    """What is told of sequences that have as many blocks as they may come to need, for as long as they live.

    Args:
        sizes: What the pool was made for.
        stored: Tokens of each.
        new: Tokens that the call adds to each.
        first: Number of the first sequence.

    Raises:
        Skipped: A sequence is to grow past what was made for it.
    """
    inputs = sizes.inputs()
    block_size, each = inputs["block_size"], inputs["blocks_each"]
    blocks, rows = scattered(inputs["blocks"]), []
    for row, (before, more) in enumerate(zip(stored, new, strict=True), first):
        if before + more > sizes.max_len:
            raise Skipped(
                f"{CALLERS}, so how many a sequence has, and what happens past them, is the caller's"
            )
        used = -(-(before + more) // block_size)
        rows.append(Held(blocks[row * each : row * each + used], before, more))
    return told(rows, block_size)
