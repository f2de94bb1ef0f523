"""What a cache is made for, and the ways in which attention over it is had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge_tui.checks.calling.binding import Binding

__all__ = ["BLOCK", "LONG_BLOCK", "LongBlocks", "Sizes", "mode", "sized"]

#: Tokens of a block, for caches made of blocks.
BLOCK = 4
#: Tokens of a block where those of few tokens would have scales that outweigh their codes.
LONG_BLOCK = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a cache is made for.

    Attributes:
        batch: Sequences.
        heads: Heads of keys and values.
        max_len: Tokens per sequence.
        head_dim: Width of a head.
        dtype: Of what is fed, and of the storage where a cache can be told.
        layers: Layers, for caches that hold several.
        query_heads: Heads of queries; as many as of keys and values when 0.
        bits: Of a code, for caches that quantize.
        chunk: Tokens per chunk, for what takes a prompt in chunks.
    """

    batch: int = 2
    heads: int = 3
    max_len: int = 16
    head_dim: int = 8
    dtype: str = "float32"
    layers: int = 2
    query_heads: int = 0
    bits: int = 8
    chunk: int = 4

    def inputs(self) -> dict[str, Any]:
        """By canonical name."""
        heads = self.query_heads or self.heads
        blocks = self.batch * -(-self.max_len // BLOCK)
        return {
            "batch": self.batch, "heads": heads, "kv_heads": self.heads, "max_len": self.max_len,
            "head_dim": self.head_dim, "dtype": self.dtype, "layers": self.layers, "one_layer": 1,
            "bits": self.bits,
            "scale": self.head_dim**-0.5,
            "all_tokens": self.batch * self.max_len,
            "embed": heads * self.head_dim, "chunk": self.chunk, "block_size": BLOCK,
            "blocks": blocks, "blocks_and_one": blocks + 1, "blocks_each": -(-self.max_len // BLOCK),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class LongBlocks(Sizes):
    """The same for caches whose blocks are as long as they are in use."""

    def inputs(self) -> dict[str, Any]:
        """By canonical name."""
        each = -(-self.max_len // LONG_BLOCK)
        blocks = self.batch * each
        return {
            **Sizes.inputs(self), "block_size": LONG_BLOCK, "blocks": blocks, "blocks_and_one": blocks + 1,
            "blocks_each": each,
        }  # fmt: skip


def sized(create: Binding | None) -> bool:
    """Whether a cache is told how many tokens it has to hold."""
    if create is None:
        return False
    in_blocks = create.takes("blocks") or create.takes("blocks_and_one")
    return create.takes("max_len") or create.takes("all_tokens") or (in_blocks and create.takes("block_size"))


def mode(bound: Mapping[str, Binding]) -> str:
    """How attention over the cache is had: ``fused``, ``attend``, ``attention``, ``read``, or ``""``."""
    if "step" in bound:
        return "fused"
    if "append" not in bound and "append_many" not in bound:
        return ""
    if "attend" in bound:
        return "attend"
    if "attention" in bound:
        return "attention"
    # What gives everything back as it takes more in is read by that.
    gives = bound["append"].returns if "append" in bound else {}
    return "read" if "read" in bound or {"k", "v"} <= set(gives) else ""
