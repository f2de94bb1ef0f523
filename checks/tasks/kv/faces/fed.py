"""A plain cache with what was fed to it, so that what it holds can be told right from wrong."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult, Skipped
from judge_tui.checks.tasks.kv.faces import sharing
from judge_tui.checks.tasks.kv.faces.cached import LISTS, PROMPTS, Cached
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.row_words import row_words
from judge_tui.checks.tolerance import relative_error

__all__ = ["Fed"]

Array = npt.NDArray[Any]
Row = tuple[Array, Array]


@dataclass(slots=True)
class Fed:
    """A cache with what its rows were fed; they may hold different numbers of tokens.

    Attributes:
        cached: The cache.
        rows: Keys and values of each row, (H, N, D) each.
        before: What the rows were before they were changed.
        old: For each row which one it was then.
        beside: Another cache with the same past, fed by itself.
        limit: Relative error of a right answer; none is looked at closer where it is 0.
        wrong: That from which on one is looked at closer, where codes leave right ones further off.
        cause: What the first wrong row is, where it is known; shared with the cache beside it.
    """

    cached: Cached
    rows: list[Row]
    before: list[Row] = field(default_factory=list)
    old: list[int] = field(default_factory=list)
    beside: Self | None = None
    limit: float = 0.0
    wrong: float = 0.0
    cause: list[str] = field(default_factory=list)
    _kept: list[int] = field(default_factory=list)

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

    def at_once(self, rng: np.random.Generator, *tokens: int) -> float:
        """Feed so many tokens to all rows, or to each, in one call, where that goes; the last answer's error.

        It is NaN of prompts that nobody answers.
        """
        return self._fed(rng, np.array(tokens if len(tokens) > 1 else tokens * self.cached.sizes.batch))

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
        worst = float(np.max(errors))
        if self._looks(worst) and counts.all():
            newest = [slice(n - 1, n) for n in counts.tolist()]
            self._why([partial(self._answers, q[b, :, at], out[b, :, at]) for b, at in enumerate(newest)])
        return worst

    def held(self) -> float:
        """How far off what is read back is; 0 where it cannot be read back."""
        try:
            return self.kept()
        except Skipped:
            return 0.0

    def kept(self) -> float:
        """How far off what is read back is.

        Raises:
            Skipped: It cannot be read back.
        """
        errors = [0.0]
        for b, fed in enumerate(self.rows):
            got = self._stored(b)
            errors += [relative_error(mine[0], x.astype(float)) for mine, x in zip(got, fed, strict=True)]
        worst = float(np.max(errors))
        if self._looks(worst):
            self._why([partial(self._stores, self.cached.stored(b)) for b in range(len(self.rows))])
        return worst

    def _stored(self, b: int) -> Row:
        """What one row holds; of one of another length it is noted which."""
        try:
            return self.cached.stored(b)
        except BadResult as fault:
            told = re.search(r"shape \(\d+, \d+, (\d+), \d+\) instead", fault.message)
            if told and self.before and not self.cause:
                tokens, wanted, was = int(told[1]), self.rows[b][0].shape[1], self.before[b][0].shape[1]
                keeps = tokens == was + wanted - self._kept[b] and self.old[b] != b
                rest = f": it keeps its own length, not that of row {self.old[b]}" if keeps else ""
                self.cause.append(f"row {b} has {tokens} tokens where {wanted} should be{rest}")
            raise

    def _looks(self, error: float) -> bool:
        off = not error <= max(self.limit, self.wrong)
        return self.limit > 0 and off and not self.cause and bool(self.before)

    def _why(self, rows: Sequence[Callable[[Row], bool]]) -> None:
        new = [
            row[0].shape[1] - kept for row, kept in zip(self.rows, self._kept or [0] * len(rows), strict=True)
        ]
        others = self.beside.rows if self.beside else []
        if told := row_words(rows, self.rows, self.before, self.old, others, new):
            self.cause.append(told)

    def _answers(self, asked: Array, answer: Array, row: Row) -> bool:
        """Whether attention over some tokens gives an answer, (H, 1, D) both."""
        if not row[0].shape[1]:
            return False
        with np.errstate(all="ignore"):
            truth = attention(asked[None], row[0][None], row[1][None])
        return relative_error(answer[None], truth) <= self.limit

    def _stores(self, pair: Row, row: Row) -> bool:
        """Whether what is read back begins with some tokens."""
        tokens = min(row[0].shape[1], pair[0].shape[2])
        mine = (got[0, :, :tokens] for got in pair)
        held = (x[:, :tokens].astype(float) for x in row)
        return tokens > 0 and all(
            relative_error(*both) <= self.limit for both in zip(mine, held, strict=True)
        )

    def _changes(self, rows: list[Row], old: list[int]) -> None:
        """Take other rows for what is held, and remember what was."""
        self.before, self.old, self.rows = self.rows, old, rows
        self._kept = [k.shape[1] for k, _v in rows]

    def reorder(self, order: Array) -> None:
        """Put rows in another order, or fewer; ``order`` names the old row of each new one."""
        sharing.reorder(self.cached, order)
        self._changes([self.rows[old] for old in order], order.tolist())

    def fork_row(self, parent: int, child: int) -> None:
        """Give one row the past of another."""
        sharing.fork_row(self.cached, parent, child)
        old = [parent if b == child else b for b in range(len(self.rows))]
        self._changes([self.rows[b] for b in old], old)

    def clone(self) -> Self:
        """A second cache with the same past."""
        other = copy.copy(self)
        other.cached, other.rows = sharing.clone(self.cached), list(self.rows)
        for one, beside in ((self, other), (other, self)):
            one.beside = beside
            one._changes(list(self.rows), list(range(len(self.rows))))
        return other

    def roll_back(self, *counts: int) -> None:
        """Take so many of the newest tokens of all rows, or of each, back.

        Raises:
            Skipped: The call is told one number for all, and each row is to lose another.
        """
        each = np.array(counts if len(counts) > 1 else counts * self.cached.sizes.batch)
        sharing.roll_back(self.cached, each)
        rows = [
            (k[:, : k.shape[1] - count], v[:, : v.shape[1] - count])
            for (k, v), count in zip(self.rows, each.tolist(), strict=True)
        ]
        self._changes(rows, list(range(len(rows))))

    def cut(self, length: int) -> None:
        """Leave so many tokens of each row, the oldest, or all where it has fewer."""
        sharing.cut(self.cached, length)
        self._changes([(k[:, :length], v[:, :length]) for k, v in self.rows], list(range(len(self.rows))))

    def forget(self) -> None:
        """Take the cache for an empty one."""
        self.cached.counts = np.zeros_like(self.cached.counts)
        self.rows = [(k[:, :0], v[:, :0]) for k, v in self.rows]

    def newest(self, tokens: int) -> Self:
        """The same cache as if each row had been fed its last tokens alone."""
        other = copy.copy(self)
        other.rows = [(k[:, k.shape[1] - tokens :], v[:, v.shape[1] - tokens :]) for k, v in self.rows]
        return other
