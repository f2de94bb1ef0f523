"""Data carried from the forward to the backward pass."""

from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np


@dataclass(frozen=True)
class AttentionContext:
    """Inputs, output and row statistics of one attention call.

    ``causal``, ``tile_size`` and ``key_lengths`` are remembered too, so that the
    backward pass cannot be run with a mask that differs from the forward one.
    """

    q: np.ndarray                        # (B, N, H, D)
    k: np.ndarray                        # (B, N, H, D)
    v: np.ndarray                        # (B, N, H, D)
    out: np.ndarray                      # (B, N, H, D)
    lse: np.ndarray                      # (B, H, N), natural log; -inf: no visible key
    causal: bool
    tile_size: int
    key_lengths: Optional[np.ndarray]    # (B,) or None

    @property
    def scale(self) -> float:
        return float(self.q.shape[-1]) ** -0.5


class AttentionGrads(NamedTuple):
    """Gradients, each (B, N, H, D)."""

    dq: np.ndarray
    dk: np.ndarray
    dv: np.ndarray
