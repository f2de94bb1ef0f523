# right: an immutable named tuple of read-only arrays, time before sequences; how many steps of each sequence are real under a name of its own
"""A purely functional KV cache.

The state is an immutable value. Every operation takes a state and returns a
new one; the old one stays valid, so branches (beams, speculative drafts,
retries) cost nothing to express: keep the state you want to come back to.

Everything is *sequence first*, as in fairseq: time, batch, heads, dim.

    state = empty(batch=2, kv_heads=2, dim=16, capacity=64)
    out, state = attend(state, q=q, k=k, v=v, new=[5, 3])    # ragged prefill
    out, state = attend(state, q=q1, k=k1, v=v1)             # one decode step
    (k0, v0), (k1, v1) = unpack(state)                       # read per sequence
"""
import math
from collections import namedtuple

import numpy as np

__all__ = ["KVState", "CapacityError", "empty", "extend", "attend", "pick",
           "rewind", "unpack", "estimate_bytes"]


class CapacityError(ValueError):
    """More tokens than the state was made for."""


# kv  : (2, S, B, H, D) read-only; [0] keys, [1] values
# size: (B,) read-only int; tokens of each sequence, the rest of S is room
# grow: True when S may be enlarged
KVState = namedtuple("KVState", "kv size grow")


def _freeze(a):
    a.flags.writeable = False
    return a


def empty(*, batch, kv_heads, dim, capacity=None, dtype=np.float32):
    """A state without tokens. ``capacity=None`` makes one that grows as needed."""
    room = 16 if capacity is None else capacity
    kv = np.zeros((2, room, batch, kv_heads, dim), dtype)
    return KVState(_freeze(kv), _freeze(np.zeros(batch, np.int64)), capacity is None)


def _counts(new, t, batch):
    """Normalise the number of valid new tokens per sequence."""
    n = np.full(batch, t) if new is None else np.asarray(new, np.int64)
    if n.shape != (batch,) or (n < 0).any() or (n > t).any():
        raise ValueError(f"new must hold {batch} counts between 0 and {t}, got {new}")
    return n


def extend(state, k, v, new=None):
    """Append to every sequence and return the new state.

    k, v : (T, B, H, D), one step is T = 1
    new  : (B,) how many of the T leading steps are real for each sequence
           (default: all of them); the others are padding and never stored.
    """
    kv, size, grow = state
    _, room, batch, heads, dim = kv.shape
    k, v = np.asarray(k), np.asarray(v)
    if k.shape != v.shape or k.ndim != 4 or k.shape[1:] != (batch, heads, dim):
        raise ValueError(f"k and v must be (T, {batch}, {heads}, {dim}), "
                         f"got {k.shape} and {v.shape}")
    t = k.shape[0]
    n = _counts(new, t, batch)
    total = size + n
    if total.max(initial=0) > room:
        if not grow:
            b = int(total.argmax())
            raise CapacityError(f"sequence {b} would hold {total[b]} tokens, "
                                f"capacity is {room}")
        room = 1 << math.ceil(math.log2(total.max()))
    out = np.zeros((2, room) + kv.shape[2:], kv.dtype)
    out[:, :kv.shape[1]] = kv
    step, seq = np.nonzero(np.arange(t)[:, None] < n)      # real (step, sequence) pairs
    slot = size[seq] + step
    out[0, slot, seq] = k[step, seq]
    out[1, slot, seq] = v[step, seq]
    return KVState(_freeze(out), _freeze(total), grow)


def attend(state, *, q, k, v, new=None, scale=None):
    """Append, then let each new token attend to its whole past and itself.

    q (T, B, Hq, D) with Hq a multiple of the KV heads; k, v, new as in ``extend``.
    Returns ``(out, state)``, out (T, B, Hq, D); padded steps of ``out`` are 0.
    """
    nxt = extend(state, k, v, new)
    t, batch, hq, dim = q.shape
    hkv = nxt.kv.shape[3]
    if hq % hkv:
        raise ValueError(f"{hq} query heads do not divide over {hkv} KV heads")
    if t != np.shape(k)[0] or batch != nxt.kv.shape[2]:
        raise ValueError("q and k disagree in time or batch")
    scale = dim ** -0.5 if scale is None else scale
    s_max = int(nxt.size.max(initial=0))
    keys, values = nxt.kv[:, :s_max].astype(np.result_type(nxt.kv, np.float32))

    qg = np.asarray(q).reshape(t, batch, hkv, hq // hkv, dim)
    score = np.einsum("tbhgd,sbhd->tbhgs", qg, keys) * scale
    where = state.size + np.arange(t)[:, None]                       # (T, B)
    real = where < nxt.size                                          # (T, B)
    visible = (np.arange(s_max) <= where[..., None]) & real[..., None]
    score = np.where(visible[:, :, None, None], score, -np.inf)
    top = score.max(-1, keepdims=True, initial=-np.inf)
    p = np.exp(score - np.where(np.isfinite(top), top, 0.0))
    norm = p.sum(-1, keepdims=True)
    p = p / np.where(norm == 0, 1.0, norm)
    out = np.einsum("tbhgs,sbhd->tbhgd", p, values)
    return out.reshape(t, batch, hq, dim), nxt


def pick(state, order):
    """State whose sequence i is sequence ``order[i]`` of this one (beam reordering)."""
    order = np.asarray(order, np.int64)
    return KVState(_freeze(state.kv[:, :, order]), _freeze(state.size[order]), state.grow)


def rewind(state, to):
    """State cut back to ``to[b]`` tokens (e.g. rejected draft tokens).

    What lies behind the cut is cleared, so it cannot come back.
    """
    to = np.asarray(to, np.int64)
    if to.shape != state.size.shape or (to < 0).any() or (to > state.size).any():
        raise ValueError("can only rewind to between 0 and the present size")
    keep = np.arange(state.kv.shape[1])[:, None] < to
    kv = np.where(keep[None, :, :, None, None], state.kv, 0).astype(state.kv.dtype)
    return KVState(_freeze(kv), _freeze(to.copy()), state.grow)


def unpack(state):
    """List of (k, v) for each sequence, each (tokens, H, D), read-only views."""
    return [(state.kv[0, :n, b], state.kv[1, :n, b]) for b, n in enumerate(state.size)]


def estimate_bytes(*, layers, batch, kv_heads, dim, tokens, dtype=np.float32):
    """Bytes for K and V of ``layers`` such states with room for ``tokens`` tokens."""
    return 2 * layers * batch * kv_heads * dim * tokens * np.dtype(dtype).itemsize
