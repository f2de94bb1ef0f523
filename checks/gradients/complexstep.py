"""The complex step: derivatives of trusted references, exact to rounding.

Only for functions of ours that accept complex arrays and are analytic (no ``abs``, no
``max``, no conjugate, so no ``np.var``); submissions are differenced instead.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judge_tui.checks.gradients.independence import Array, Forward, Independence, block_sums

__all__ = ["complex_step"]

#: Far below rounding: nothing is subtracted, so nothing cancels.
_STEP = 1e-30


def complex_step(forward: Forward, at: Mapping[str, Array], blocks: Independence, weights: Array) -> Array:
    """The gradient of ``sum(weights * forward(at))`` by an input, one entry of every block at a time.

    Args:
        forward: An analytic function.
        at: Its inputs.
        blocks: The input, and how it falls into blocks.
        weights: The output's weights.
    """
    centre = at[blocks.name]
    gradient = np.zeros(centre.shape)
    for colour in blocks.colours(centre.shape):
        moved = centre.astype(np.complex128)
        moved[colour] += 1j * _STEP
        gradient[colour] = block_sums(weights * forward({**at, blocks.name: moved}).imag / _STEP, blocks)
    return gradient
