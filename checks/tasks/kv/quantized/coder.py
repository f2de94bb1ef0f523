"""Keys and values through codes and back, whether a cache does it or a pair of functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.cache_size_minimality.bytes_per_token import Measured, weighed
from judge_tui.checks.tasks.kv.faces.axis_orders import one_headed
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import entries, total
from judge_tui.checks.tasks.kv.finding import trials
from judge_tui.checks.tasks.kv.quantized.pairs import Pair
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sizes import LONG_BLOCK, LongBlocks, Sizes

__all__ = ["CacheCoder", "Coder", "PairCoder", "Weight"]

Array = npt.NDArray[Any]
#: Heads of a cache that is weighed.
_HEADS = 4
#: Bytes that a number takes at the least: those of two bits.
_LEAST = 0.25


@dataclass(frozen=True, slots=True)
class Weight:
    """What codes take.

    Attributes:
        each: Bytes per number, scales and all.
        how: How it was measured.
        table: Rows of the arrays that are kept, the first being the head.
    """

    each: float
    how: str
    table: tuple[tuple[str, ...], ...] = ()


class Coder(Protocol):
    """Something that keeps numbers as codes."""

    @property
    def name(self) -> str:
        """What it is, for evidence."""

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits that it can be told; (0,) when it cannot."""

    @property
    def where(self) -> dict[str, Any]:
        """``file`` and ``line``."""

    def restored(self, k: Array, v: Array, bits: int, *, whole: bool) -> tuple[Array, Array]:
        """(B, H, N, D) keys and values after both ways; ``whole`` hands all tokens over in one call.

        Raises:
            Fault: It refuses, or gives back something else.
        """

    def weight(self, bits: int) -> Weight | None:
        """Bytes per number at a head size of 64; ``None`` when they cannot be counted."""


def _place(binding: Binding) -> dict[str, Any]:
    return {} if binding.file == ADAPTER else {"file": binding.file, "line": binding.line or None}


def _per_number(measured: Measured, sizes: Sizes) -> float:
    """Bytes of one number of keys and values."""
    return measured.per_token / (2 * sizes.heads * sizes.head_dim)


@dataclass(frozen=True, slots=True)
class CacheCoder:
    """A quantized cache that is fed and read back.

    Attributes:
        bench: Where it is judged.
        bound: Its roles under the plain ones' names.
    """

    bench: Bench
    bound: Mapping[str, Binding]

    @property
    def name(self) -> str:
        """Its class, as written."""
        create = self.bound["create"]
        feeds = self.bound.get("append", self.bound.get("step", create))
        return feeds.name.rpartition(".")[0] if create.file == ADAPTER else create.name

    @property
    def widths(self) -> tuple[int, ...]:
        """8 and 4 where it takes a width."""
        return (8, 4) if self.bound["create"].takes("bits") else (0,)

    @property
    def where(self) -> dict[str, Any]:
        """Where its class stands, or what feeds it."""
        return _place(self.bound["create"]) or _place(self.bound.get("append", self.bound["create"]))

    @property
    def feeds_whole(self) -> bool:
        """Whether several tokens go in with one call."""
        return "append_many" in self.bound

    @property
    def heads(self) -> int:
        """Heads that one cache is told apart; what keeps rows is told of none, and has one for each head."""
        rows = any(one_headed(self.bound[name].layout) for name in ("append", "step") if name in self.bound)
        return 1 if rows else _HEADS

    @property
    def only_attends(self) -> bool:
        """Whether nothing of what it keeps is handed out: its answers alone can be held against anything."""
        if "step" in self.bound and "append" not in self.bound:
            return True
        if "read" in self.bound or "attend" not in self.bound:
            return False
        return not trials.held(Search(self.bench.worker, {}), dict(self.stored)).ran

    def opened(
        self, shape: tuple[int, ...], bits: int, *, attends: bool = False, query_heads: int = 0
    ) -> Cached:
        """An empty cache for (B, H, N, D), asked with as many heads of queries where they are not told."""
        batch, heads, tokens, width = shape
        sizes = Sizes(batch, heads, tokens, width, layers=1, bits=bits or 8, query_heads=query_heads)
        return Subject(self.bench, dict(self.bound if attends else self.stored)).cached(sizes)

    @property
    def stored(self) -> Mapping[str, Binding]:
        """Its roles without what attends, where it is fed without that."""
        attending = {"attend", "step"} if "append" in self.bound else {"attend"}
        return {name: binding for name, binding in self.bound.items() if name not in attending}

    def restored(self, k: Array, v: Array, bits: int, *, whole: bool) -> tuple[Array, Array]:
        """See :class:`Coder`."""
        batch, heads, tokens, width = shape = k.shape
        if self.heads == 1:
            k, v = (x.reshape(batch * heads, 1, tokens, width) for x in (k, v))
        cached = self.opened(k.shape, bits)
        cached.feed(np.zeros_like(k), k, v, whole=whole)
        pairs = [cached.stored(b) for b in range(k.shape[0])]
        keys, values = (np.concatenate([pair[i] for pair in pairs]).reshape(shape) for i in (0, 1))
        return keys, values

    def weight(self, bits: int) -> Weight | None:
        """See :class:`Coder`."""
        sizes = Sizes(2, self.heads, 32, 64, layers=1, bits=bits or 8)
        measured = weighed(Subject(self.bench, dict(self.stored)), sizes)
        if measured is None:
            return None
        shape = (2, self.heads, 8, 64)
        cached, x = self.opened(shape, bits), np.ones(shape, np.float32)
        cached.feed(x, x, x, whole=False)
        rows = [("array", "shape", "dtype", "bytes")]
        rows += [(e.name, str(e.shape), e.dtype, str(e.nbytes)) for e in entries(cached)[:12]]
        each, how = _per_number(measured, sizes), measured.how
        if each > 2.0 and not self.bound["create"].takes("max_len"):
            each, how = min((each, how), self._long(bits))
        if each > 2.0 and self.bound["create"].takes("block_size"):
            each, how = min((each, how), self._in_long_blocks(sizes))
        return Weight(each, how, tuple(rows))

    def _in_long_blocks(self, sizes: Sizes) -> tuple[float, str]:
        """Bytes per number in blocks of more tokens: scales of a block weigh little only there."""
        measured = weighed(Subject(self.bench, dict(self.stored)), LongBlocks(**asdict(sizes)))
        if measured is None:
            return np.inf, ""
        return _per_number(measured, sizes), f"{measured.how}, in blocks of {LONG_BLOCK}"

    def _long(self, bits: int) -> tuple[float, str]:
        """Bytes per number of 256 tokens behind the first 256: the newest ones may be kept as they are."""
        shape = (1, self.heads, 512, 64)
        cached = self.opened(shape, bits)
        x = np.random.default_rng(19).uniform(-1, 1, shape).astype(np.float32)
        nbytes = []
        for start in (0, 256):
            part = x[:, :, start : start + 256]
            cached.feed(part, part, part)
            nbytes.append(total(cached))
        each = (nbytes[1] - nbytes[0]) / (2 * part.size)
        # codes take no less: what has room for all from the beginning grows by its tables alone
        return (each, "what 256 tokens behind 256 others take") if each > _LEAST else (np.inf, "")


@dataclass(frozen=True, slots=True)
class PairCoder:
    """A pair of calls.

    Attributes:
        bench: Where it is judged.
        pair: The calls.
    """

    bench: Bench
    pair: Pair

    @property
    def name(self) -> str:
        """Both calls."""
        return f"{self.pair.quantize.name} and {self.pair.dequantize.name}"

    @property
    def widths(self) -> tuple[int, ...]:
        """8 and 4 where a width can be told."""
        return (8, 4) if self.pair.takes_bits else (0,)

    @property
    def where(self) -> dict[str, Any]:
        """Where the first call stands."""
        return _place(self.pair.quantize)

    def restored(self, k: Array, v: Array, bits: int, *, whole: bool) -> tuple[Array, Array]:
        """See :class:`Coder`; without ``whole``, token by token."""
        if not whole:
            pieces = [
                self.restored(k[:, :, t : t + 1], v[:, :, t : t + 1], bits, whole=True)
                for t in range(k.shape[2])
            ]
            return np.concatenate([p[0] for p in pieces], 2), np.concatenate([p[1] for p in pieces], 2)
        pair = replace(self.pair, worker=self.bench.worker)
        left = self.bench.left
        return pair.restored(k, bits or 8, left), pair.restored(v, bits or 8, left)

    def weight(self, bits: int) -> Weight | None:
        """See :class:`Coder`."""
        x = np.random.default_rng(13).uniform(-1, 1, (2, 4, 32, 64)).astype(np.float32)
        part = self.pair.first(x)
        nbytes = self.pair.nbytes(x, bits or 8, self.bench.left)
        how = f"{nbytes} B for {part.size} numbers of shape {part.shape}, as the first call gives them"
        return Weight(nbytes / part.size, how)
