# right: rows of all sequences behind each other, without padding; a cache is a value that append gives anew
# skips: paged, quantized, isolation
# passes: memory_model
"""Functional KV cache over packed (variable-length, padding-free) token rows.

A cache is an immutable value: ``append`` returns a new :class:`Packed` and leaves the old one usable, so a caller can
branch, retry or discard a step for free.  Sequences are stored back to back; ``starts`` holds the B + 1 offsets
(the ``cu_seqlens`` convention), so there is no padding, no capacity and nothing to mask but the causal triangle.
One ``Packed`` is one layer; a model's cache is a tuple of them.  Cost of an append: one copy, O(tokens held).
"""
from typing import NamedTuple, Optional, Sequence

import numpy as np


class Packed(NamedTuple):
    k: np.ndarray        # (N, kv_heads, head_dim), read-only
    v: np.ndarray        # (N, kv_heads, head_dim), read-only
    starts: np.ndarray   # (B + 1,) int64

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)

    @property
    def nbytes(self) -> int:
        return self.k.nbytes + self.v.nbytes + self.starts.nbytes


def empty(batch: int, kv_heads: int, head_dim: int, dtype=np.float32) -> Packed:
    """A cache of ``batch`` sequences without tokens."""
    rows = np.zeros((0, kv_heads, head_dim), dtype)
    return Packed(rows, rows.copy(), np.zeros(batch + 1, np.int64))


def _counts(state: Packed, rows: int, counts: Optional[Sequence[int]]) -> np.ndarray:
    batch = len(state.starts) - 1
    counts = np.ones(batch, np.int64) if counts is None else np.asarray(counts, np.int64)
    if counts.shape != (batch,) or (counts < 0).any() or counts.sum() != rows:
        raise ValueError(f"counts {counts.tolist()} do not describe {rows} rows of {batch} sequences")
    return counts


def append(state: Packed, k: np.ndarray, v: np.ndarray, counts: Optional[Sequence[int]] = None) -> Packed:
    """New state with ``counts[b]`` tokens added to sequence b.

    k, v: (sum(counts), kv_heads, head_dim), packed in the order of the sequences.  ``counts=None`` is a decode step,
    one token each; a zero leaves a (finished) sequence as it is.
    """
    if k.shape != v.shape or k.shape[1:] != state.k.shape[1:]:
        raise ValueError(f"rows of shape {k.shape} / {v.shape} do not fit {state.k.shape[1:]}")
    counts = _counts(state, len(k), counts)
    starts = state.starts + np.concatenate(([0], np.cumsum(counts)))
    seq = np.repeat(np.arange(len(counts)), state.lengths)
    old_at = np.arange(len(state.k)) + (starts - state.starts)[seq]
    fresh = np.ones(starts[-1], bool)
    fresh[old_at] = False
    out = []
    for held, new in ((state.k, k), (state.v, v)):
        rows = np.empty((starts[-1],) + held.shape[1:], held.dtype)
        rows[old_at] = held
        rows[fresh] = new          # what is not old is new, and both are in sequence order
        rows.flags.writeable = False
        out.append(rows)
    return Packed(out[0], out[1], starts)


def read(state: Packed, b: int):
    """Read-only (k, v) of sequence b, each (length, kv_heads, head_dim)."""
    if not 0 <= b < len(state.starts) - 1:
        raise IndexError(f"no sequence {b} in a batch of {len(state.starts) - 1}")
    rows = slice(state.starts[b], state.starts[b + 1])
    return state.k[rows], state.v[rows]


def attend(q: np.ndarray, state: Packed, counts: Optional[Sequence[int]] = None) -> np.ndarray:
    """Causal attention of the most recent tokens: q (sum(counts), heads, head_dim), already appended to ``state``.

    The queries of sequence b are its last ``counts[b]`` positions.  heads may be a multiple of kv_heads: query heads
    [g*R, (g+1)*R) share kv head g.
    """
    counts = _counts(state, len(q), counts)
    if (counts > state.lengths).any():
        raise ValueError("append the tokens before attending with their queries")
    heads, dim = q.shape[1:]
    groups = state.k.shape[1]
    if heads % groups:
        raise ValueError(f"{heads} query heads over {groups} kv heads")
    out = np.empty(q.shape, np.result_type(q, state.v))
    at = 0
    for b, n in enumerate(counts):
        if n == 0:
            continue
        k, v = read(state, b)
        qb = q[at:at + n].reshape(n, groups, heads // groups, dim)
        s = np.einsum("qgrd,kgd->grqk", qb, k) / np.sqrt(dim).astype(out.dtype)
        hidden = np.arange(len(k))[None, :] > np.arange(len(k) - n, len(k))[:, None]
        s[..., hidden] = -np.inf
        s -= s.max(axis=-1, keepdims=True)
        np.exp(s, out=s)
        s /= s.sum(axis=-1, keepdims=True)
        out[at:at + n] = np.einsum("grqk,kgd->qgrd", s, v).reshape(n, heads, dim)
        at += n
    return out


def bytes_per_token(layers: int, kv_heads: int, head_dim: int, itemsize: int = 2) -> int:
    """Key and value of one token in all layers."""
    return 2 * layers * kv_heads * head_dim * itemsize


def max_context(gpu_bytes: int, weight_bytes: int, batch: int, layers: int, kv_heads: int, head_dim: int,
                itemsize: int = 2) -> int:
    """Longest context that ``batch`` sequences can have beside the weights."""
    return max(0, gpu_bytes - weight_bytes) // (batch * bytes_per_token(layers, kv_heads, head_dim, itemsize))
