"""What a submission for the fused softmax and top-k was asked to deliver."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.tasks.fuse.running import find

__all__ = ["CONTRACT", "FUSE"]

FUSE = Role(
    "fuse",
    (
        Param("logits"), Param("rows", "int", required=False), Param("B", "int", required=False),
        Param("T", "int", required=False), Param("V", "int"), Param("K", "int", required=False),
    ),
    (Return("indices"), Return("probabilities")),
    (),
)  # fmt: skip


def sample(rng: np.random.Generator) -> Sample:
    """A small draw: logits (B, T, V) = (2, 3, 64), K = 5."""
    return Sample(
        {
            "logits": rng.normal(size=(2, 3, 64)).astype(np.float32),
            "B": 2,
            "T": 3,
            "rows": 6,
            "V": 64,
            "K": 5,
        },
        {"indices": (2, 3, 5), "probabilities": (2, 3, 5)},
    )


CONTRACT = Contract(
    (FUSE,),
    sample,
    "a CUDA kernel (.cu, .cuh): logits (B, T, V) to the K largest of each row, indices (B, T, K) and "
    "probabilities (B, T, K), largest first; no full softmax in global memory.",
    find=find,
)
