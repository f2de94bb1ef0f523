"""A plain cache with what was fed to it, so that what it holds can be told right from wrong."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.kv.faces import sharing
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows
from judge_tui.checks.tolerance import relative_error

__all__ = ["Fed"]

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Fed:
    """A cache all of whose rows hold as many tokens.

    Attributes:
        cached: The cache.
        k: What each row was fed, (B, H, N, D).
        v: As k.
    """

    cached: Cached
    k: Array
    v: Array

    @classmethod
    def of(cls, cached: Cached, rng: np.random.Generator, tokens: int) -> Self:
        """A new cache, fed token by token."""
        _q, k, v = drawn(rng, cached.sizes, 0)
        fed = cls(cached, k, v)
        fed.feed(rng, tokens)
        return fed

    def feed(self, rng: np.random.Generator, tokens: int) -> float:
        """Feed random tokens one by one; how far off the answers are, relative, the worst of them."""
        errors = [0.0]
        for _ in range(tokens):
            q, k, v = drawn(rng, self.cached.sizes, 1)
            self.k, self.v = (np.concatenate(both, axis=2) for both in ((self.k, k), (self.v, v)))
            out = self.cached.feed(q, k, v)
            if self.cached.mode != "read":
                truth = attention(q, self.k, self.v, visible=causal_rows(1, self.k.shape[2]))
                errors.append(relative_error(out, truth))
        return float(np.max(errors))

    def held(self) -> float:
        """How far off what is read back is; 0 where it cannot be read back."""
        errors = [0.0]
        try:
            for b in range(self.cached.sizes.batch):
                got = self.cached.stored(b)
                errors += [
                    relative_error(mine, fed[b : b + 1].astype(float))
                    for mine, fed in zip(got, (self.k, self.v), strict=True)
                ]
        except Skipped:
            return 0.0
        return float(np.max(errors))

    def reorder(self, order: Array) -> None:
        """Put the rows in another order; ``order`` (B,) names the old row of each new one."""
        sharing.reorder(self.cached, order)
        self.k, self.v = self.k[order], self.v[order]

    def fork_row(self, parent: int, child: int) -> None:
        """Give one row the past of another."""
        sharing.fork_row(self.cached, parent, child)
        order = np.arange(self.cached.sizes.batch)
        order[child] = parent
        self.k, self.v = self.k[order], self.v[order]

    def clone(self) -> Self:
        """A second cache with the same past."""
        other = copy.copy(self)
        other.cached = sharing.clone(self.cached)
        return other

    def roll_back(self, count: int) -> None:
        """Take the newest tokens back."""
        sharing.roll_back(self.cached, count)
        kept = self.k.shape[2] - count
        self.k, self.v = self.k[:, :, :kept], self.v[:, :, :kept]
