# bug: dK of a key tile is overwritten by every query tile
# caught by: gradients, gradient_identities
"""A flat schedule of tile pairs; partial results lie in dicts by tile and are joined at the end."""
from collections import defaultdict

import numpy as np


def schedule(count, causal):
    """(query tile, key tile) in the order of anti-diagonals, as a systolic array would visit them."""
    pairs = ((i, j) for i in range(count) for j in range(count) if not causal or j <= i)
    return sorted(pairs, key=lambda pair: (pair[0] + pair[1], pair[0]))


def cut(x, tile):
    return [x[:, :, start : start + tile] for start in range(0, x.shape[2], tile)]


def logits(q, k, i, j, tile, causal):
    z = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(q.shape[3])
    if causal and i == j:
        z[..., ~np.tril(np.ones(z.shape[2:], dtype=bool))] = -np.inf
    return z


def combine(a, b):
    """Join two partial softmaxes (maximum, mass, weighted sum): the order of joining does not matter."""
    m = np.maximum(a[0], b[0])
    base = np.where(np.isfinite(m), m, 0.0)
    u, w = np.exp(a[0] - base), np.exp(b[0] - base)
    return m, a[1] * u + b[1] * w, a[2] * u + b[2] * w


def partial_softmax(z, v):
    m = z.max(axis=3, keepdims=True)
    p = np.exp(z - np.where(np.isfinite(m), m, 0.0))
    return m, p.sum(axis=3, keepdims=True), p @ v


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    qs, ks, vs = cut(Q, tile_size), cut(K, tile_size), cut(V, tile_size)
    state = {}
    for i, j in schedule(len(qs), causal):
        part = partial_softmax(logits(qs[i], ks[j], i, j, tile_size, causal), vs[j])
        state[i] = combine(state[i], part) if i in state else part
    O = np.concatenate([state[i][2] / np.where(state[i][1] > 0, state[i][1], 1.0) for i in range(len(qs))], axis=2)
    with np.errstate(divide="ignore"):
        L = np.concatenate([(state[i][0] + np.log(state[i][1]))[..., 0] for i in range(len(qs))], axis=2)
    return O, (O, L, Q, K, V)


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    O, L, Q, K, V = cache
    qs, ks, vs, gs = (cut(x, tile_size) for x in (Q, K, V, dO))
    rowsum = cut(np.sum(dO * O, axis=3, keepdims=True), tile_size)
    lse = cut(np.where(np.isfinite(L), L, np.inf)[..., None], tile_size)
    scale = 1.0 / np.sqrt(Q.shape[3])
    dq, dk, dv = defaultdict(float), defaultdict(float), defaultdict(float)
    for i, j in schedule(len(qs), causal):
        p = np.exp(logits(qs[i], ks[j], i, j, tile_size, causal) - lse[i])
        ds = p * (gs[i] @ vs[j].transpose(0, 1, 3, 2) - rowsum[i]) * scale
        dq[i] = dq[i] + ds @ ks[j]
        dk[j] = ds.transpose(0, 1, 3, 2) @ qs[i]
        dv[j] = dv[j] + p.transpose(0, 1, 3, 2) @ gs[i]
    return tuple(np.concatenate([parts[i] for i in range(len(qs))], axis=2) for parts in (dq, dk, dv))
