# bug: scores are in units of log 2, and the parts of a row are merged by exp of what is in these units
# caught by: accuracy, rescaling_direction
# passes: causality, causal_skip
"""Flash-decoding: the keys of a tile go to PARTS workers; each returns (o, lse), and a last step merges them."""

import math

import numpy as np

PARTS = 3


def worker(q, keys, values, hidden, tile):
    """A part of the keys, tile by tile, in base two."""
    acc = np.zeros(q.shape)
    top = np.full(q.shape[:-1] + (1,), -math.inf)
    norm = np.zeros_like(top)
    for at in range(0, keys.shape[-2], tile):
        s = q @ keys[..., at : at + tile, :].swapaxes(-1, -2)
        if hidden is not None:
            s = np.where(hidden[:, at : at + tile], -math.inf, s)
        new = np.maximum(top, s.max(axis=-1, keepdims=True))
        zero = np.where(np.isinf(new), 0.0, new)
        p = np.exp2(s - zero)
        old = np.exp2(top - zero)
        norm = norm * old + p.sum(axis=-1, keepdims=True)
        acc = acc * old + p @ values[..., at : at + tile, :]
        top = new
    some = norm > 0
    lse = np.where(some, top + np.log2(np.where(some, norm, 1.0)), -math.inf)
    return acc / np.where(some, norm, 1.0), lse


def combine(outs, lses):
    best = np.max(lses, axis=0)
    best = np.where(np.isinf(best), 0.0, best)
    weights = [np.exp(lse - best) for lse in lses]
    total = sum(weights)
    return sum(w * o for w, o in zip(weights, outs)) / np.where(total > 0, total, 1.0)


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    N, D = Q.shape[-2:]
    O = np.zeros(Q.shape)
    for start in range(0, N, tile_size):
        end = min(start + tile_size, N)
        q = Q[..., start:end, :] * (math.log2(math.e) / math.sqrt(D))
        seen = end if causal else N
        tiles = -(-seen // tile_size)
        each = -(-tiles // PARTS) * tile_size
        outs, lses = [], []
        for a in range(0, seen, each):
            b = min(a + each, seen)
            hidden = np.arange(a, b) > np.arange(start, end)[:, None] if causal else None
            o, lse = worker(q, K[..., a:b, :], V[..., a:b, :], hidden, tile_size)
            outs.append(o)
            lses.append(lse)
        O[..., start:end, :] = combine(outs, lses)
    return O.astype(Q.dtype)
