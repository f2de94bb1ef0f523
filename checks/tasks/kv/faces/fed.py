"""A plain cache with what was fed to it, so that what it holds can be told right from wrong."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.kv.faces import sharing
from judge_tui.checks.tasks.kv.faces.cached import LISTS, PROMPTS, Cached
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["Fed"]

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Fed:
    """A cache with what its rows were fed; they may hold different numbers of tokens.

    Attributes:
        cached: The cache.
        rows: Keys and values of each row, (H, N, D) each.
    """

    cached: Cached
    rows: list[tuple[Array, Array]]

    @classmethod
    def of(cls, cached: Cached, rng: np.random.Generator, *tokens: int) -> Self:
        """A new cache, fed token by token.

        Args:
            cached: It holds nothing yet.
            rng: Draws the tokens.
            tokens: How many go to all rows, or to each.

        Raises:
            Skipped: Its rows hold as many tokens each.
        """
        _q, k, v = drawn(rng, cached.sizes, 0)
        fed = cls(cached, list(zip(k, v, strict=True)))
        fed.feed(rng, *tokens)
        return fed

    def feed(self, rng: np.random.Generator, *tokens: int) -> float:
        """Feed random tokens; how far off the answers are, relative, the worst of them.

        Args:
            rng: Draws the tokens.
            tokens: How many go to all rows, one by one, or to each.
        """
        counts = np.array(tokens if len(tokens) > 1 else tokens * self.cached.sizes.batch)
        if len(set(counts.tolist())) > 1 and self.cached.ragged_by() in (LISTS, PROMPTS):
            error = self._fed(rng, counts)
            return 0.0 if self.cached.prompts_apart else error
        return float(np.max([0.0, *(self._fed(rng, (counts > t).astype(int)) for t in range(counts.max()))]))

    def _fed(self, rng: np.random.Generator, counts: Array) -> float:
        """Feed so many tokens to each row, (B,), with one call where that goes; NaN of prompts."""
        q, k, v = drawn(rng, self.cached.sizes, int(counts.max()))
        out = self.cached.feed(q, k, v, counts)
        errors = [0.0]
        for b in np.flatnonzero(counts):
            new = slice(0, counts[b])
            held_k, held_v = self.rows[b]
            both = np.concatenate([held_k, k[b, :, new]], 1), np.concatenate([held_v, v[b, :, new]], 1)
            self.rows[b] = both
            if self.cached.mode != "read":
                asked, answer = (x[b : b + 1, :, counts[b] - 1 : counts[b]] for x in (q, out))
                errors.append(relative_error(answer, attention(asked, both[0][None], both[1][None])))
        return float(np.max(errors))

    def held(self) -> float:
        """How far off what is read back is; 0 where it cannot be read back."""
        errors = [0.0]
        try:
            for b, fed in enumerate(self.rows):
                got = self.cached.stored(b)
                errors += [relative_error(mine[0], x.astype(float)) for mine, x in zip(got, fed, strict=True)]
        except Skipped:
            return 0.0
        return float(np.max(errors))

    def reorder(self, order: Array) -> None:
        """Put rows in another order, or fewer; ``order`` names the old row of each new one."""
        sharing.reorder(self.cached, order)
        self.rows = [self.rows[old] for old in order]

    def fork_row(self, parent: int, child: int) -> None:
        """Give one row the past of another."""
        sharing.fork_row(self.cached, parent, child)
        self.rows[child] = self.rows[parent]

    def clone(self) -> Self:
        """A second cache with the same past."""
        other = copy.copy(self)
        other.cached, other.rows = sharing.clone(self.cached), list(self.rows)
        return other

    def roll_back(self, *counts: int) -> None:
        """Take so many of the newest tokens of all rows, or of each, back.

        Raises:
            Skipped: The call is told one number for all, and each row is to lose another.
        """
        each = np.array(counts if len(counts) > 1 else counts * self.cached.sizes.batch)
        sharing.roll_back(self.cached, each)
        self.rows = [
            (k[:, : k.shape[1] - count], v[:, : v.shape[1] - count])
            for (k, v), count in zip(self.rows, each.tolist(), strict=True)
        ]

    def cut(self, length: int) -> None:
        """Leave so many tokens of each row, the oldest, or all where it has fewer."""
        sharing.cut(self.cached, length)
        self.rows = [(k[:, :length], v[:, :length]) for k, v in self.rows]

    def forget(self) -> None:
        """Take the cache for an empty one."""
        self.cached.counts = np.zeros_like(self.cached.counts)
        self.rows = [(k[:, :0], v[:, :0]) for k, v in self.rows]

    def newest(self, tokens: int) -> Self:
        """The same cache as if each row had been fed its last tokens alone."""
        other = copy.copy(self)
        other.rows = [(k[:, k.shape[1] - tokens :], v[:, v.shape[1] - tokens :]) for k, v in self.rows]
        return other
