"""Seeding the random generators that a whole process shares."""

from __future__ import annotations

import sys

import numpy as np

__all__ = ["seed_all"]


def seed_all(seed: int) -> None:
    """Seed Python's generator, NumPy's old one and, where they are imported, those of PyTorch and CuPy.

    Args:
        seed: Below 2³².
    """
    np.random.seed(seed)
    if (random := sys.modules.get("random")) is not None:
        random.seed(seed)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(seed)
    if (cupy := sys.modules.get("cupy")) is not None:
        cupy.random.seed(seed)
