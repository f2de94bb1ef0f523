"""What the KV-cache challenge asks for, by role."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.contract import Contract, Sample
from judge_tui.checks.tasks.kv.finding import chunked as chunks
from judge_tui.checks.tasks.kv.finding import grouped, quantized
from judge_tui.checks.tasks.kv.finding import search as finding
from judge_tui.checks.tasks.kv.words import decoder_roles as decoder
from judge_tui.checks.tasks.kv.words import paging_roles, roles, sharing_roles
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD, FREE, RESERVE

__all__ = ["CONTRACT"]


def _sample(rng: np.random.Generator) -> Sample:
    shape = (2, 3, 4, 8)
    inputs = {name: rng.standard_normal(shape) for name in ("q", "k", "v")}
    rows = np.arange(4)
    stand = {
        "position": 0, "positions": np.zeros(2, np.int64), "first_positions": np.zeros(2, np.int64),
        "row_positions": rows, "length": 4,
        "query_positions": np.tile(rows, (2, 1)), "key_positions": np.tile(rows, (2, 1)),
    }  # fmt: skip
    return Sample(
        {
            **inputs,
            "causal": True,
            "scale": 8**-0.5,
            "head_dim": 8,
            "totals": np.full(2, 4),
            **stand,
        },
        {"out": shape},
    )


CONTRACT = Contract(
    (
        *roles.ROLES,
        ADD,
        RESERVE,
        FREE,
        *sharing_roles.ROLES,
        *quantized.ROLES,
        *paging_roles.ROLES,
        *decoder.DECODER,
        *decoder.BATCHES,
        chunks.ROLE,
        grouped.ROLE,
    ),
    _sample,
    "a KV cache (create, append, read) with cached attention or a decoder (prefill, decode one token)",
    find=finding.find,
)
