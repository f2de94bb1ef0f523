"""The call by which flash attention's backward is timed: several causal tiles of a few heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judge_tui.checks.tasks.flash_attention.contract import forward_inputs
from judge_tui.checks.timing import Size, Timing

__all__ = ["TIMING"]


def _size(shape: tuple[int, int, int, int], tile: int) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        q, k, v, d_out = rng.standard_normal((4, *shape))
        return {**forward_inputs(q, k, v, tile, True), "dO": d_out}

    batch, heads, length, width = shape
    label = f"(B, H, N, D) = {shape}, T = {tile}, causal, float64"
    return Size(label, float(batch * heads * length * length * width), inputs, shape)


TIMING = Timing(
    "backward",
    Path(__file__).with_name("plain.py"),
    ("dO", "tile_size"),
    (_size((1, 2, 128, 32), 32), _size((1, 2, 256, 64), 64), _size((1, 4, 512, 64), 64)),
    # Not dQ, whose causal row 0 is rounding alone.
    answer="dV",
    before=("forward",),
    prepared=("q", "k", "v"),
    told=("causal",),
)
