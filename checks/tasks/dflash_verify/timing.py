"""The call by which submissions are timed: the mask of a large tree. The target is no work of theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judge_tui.checks.tasks.dflash_verify.handing import given
from judge_tui.checks.tasks.dflash_verify.trees import Tree
from judge_tui.checks.timing import Size, Timing

__all__ = ["TIMING"]


def _size(prompt_len: int, nodes: int) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        # Four nodes to a level, as trees of a drafter are: deep enough that walking up costs.
        parents = [-1 if i < 4 else int(rng.integers(4 * (i // 4 - 1), 4 * (i // 4))) for i in range(nodes)]
        tree = Tree((0,) * nodes, tuple(parents))
        return {**given((0,) * prompt_len, tree), "vocab_size": 1}

    length = prompt_len + nodes
    label = f"mask of P = {prompt_len}, N = {nodes}, four nodes to a level"
    return Size(label, float(nodes * length), inputs, (length, length))


TIMING = Timing(
    "mask",
    Path(__file__).with_name("plain.py"),
    ("prompt_len", "tree_parents"),
    (_size(64, 32), _size(512, 256), _size(1024, 512)),
    answer="mask",
)
