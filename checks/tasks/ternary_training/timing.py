"""The call by which ternary layers are timed: one forward, the projection included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judge_tui.checks.tasks.ternary_training.roles import inputs_of
from judge_tui.checks.timing import Size, Timing

__all__ = ["TIMING"]


def _size(out: int, width: int, rows: int) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        shapes = ((out, width), (out,), (rows, width), (rows, out))
        return inputs_of(*(rng.standard_normal(shape) for shape in shapes))

    label = f"W (out, in) = ({out}, {width}), B = {rows}, float64"
    return Size(label, float(out * width * rows), inputs, (rows, out))


TIMING = Timing(
    "forward",
    Path(__file__).with_name("plain.py"),
    ("x", "weight", "bias", "group_size"),
    (_size(128, 128, 4), _size(256, 512, 8), _size(512, 1024, 32)),
)
