"""The call by which layer norms are timed: one backward at the size that the challenge states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judge_tui.checks.tasks.backwards.passes import STATED
from judge_tui.checks.timing import Size, Timing

__all__ = ["TIMING"]


def _size(shape: tuple[int, int, int]) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        x, dy = rng.standard_normal((2, *shape))
        width = shape[-1]
        scale = {"gamma": rng.uniform(0.5, 2.0, width), "beta": rng.standard_normal(width)}
        return {"x": x, "dy": dy, "eps": 1e-5, "D": width, **scale}

    return Size(f"(B, T, D) = {shape}, float64", float(np.prod(shape)), inputs, shape)


TIMING = Timing(
    "backward",
    Path(__file__).with_name("plain.py"),
    ("dy",),
    (_size((2, 16, 256)), _size(STATED)),
    answer="dx",
    before=("forward",),
    prepared=("x", "gamma", "eps"),
)
