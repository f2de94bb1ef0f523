# bug: L is kept tile by tile and the backward's tiles are taken for the forward's
# caught by: gradients
import numpy as np


def _mask(scores, rows, cols, causal):
    if causal:
        scores[..., cols[None, :] > rows[:, None]] = -np.inf
    return scores


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    N, D = Q.shape[-2:]
    scale = 1.0 / np.sqrt(D)
    m = np.full(Q.shape[:-1], -np.inf, dtype=Q.dtype)
    l = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    acc = np.zeros_like(Q)
    for j in range(0, N, tile_size):
        kj, vj = K[:, :, j:j + tile_size], V[:, :, j:j + tile_size]
        cols = np.arange(j, min(j + tile_size, N))
        for i in range(0, N, tile_size):
            rows = np.arange(i, min(i + tile_size, N))
            if causal and cols[0] > rows[-1]:
                continue
            r = slice(i, i + len(rows))
            s = _mask(np.matmul(Q[:, :, r], kj.swapaxes(-1, -2)) * scale, rows, cols, causal)
            new = np.maximum(m[:, :, r], s.max(-1))
            safe = np.where(np.isneginf(new), 0, new)
            p = np.exp(s - safe[..., None])
            a = np.exp(m[:, :, r] - safe)
            l[:, :, r] = l[:, :, r] * a + p.sum(-1)
            acc[:, :, r] = acc[:, :, r] * a[..., None] + np.matmul(p, vj)
            m[:, :, r] = new
    empty = l == 0
    O = acc / np.where(empty, 1, l)[..., None]
    L = np.where(empty, -np.inf, m + np.log(np.where(empty, 1, l)))
    return O, dict(O=O, L=[L[:, :, i:i + tile_size] for i in range(0, N, tile_size)], Q=Q, K=K, V=V)


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V, O, L = (cache[n] for n in "QKVOL")
    N, D = Q.shape[-2:]
    scale = 1.0 / np.sqrt(D)
    delta = np.sum(dO * O, axis=-1)
    blocks = [np.where(np.isneginf(b), 0, b) for b in L]
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for j in range(0, N, tile_size):
        c = slice(j, min(j + tile_size, N))
        for i in range(0, N, tile_size):
            r = slice(i, min(i + tile_size, N))
            if causal and c.start > r.stop - 1:
                continue
            s = np.matmul(Q[:, :, r], K[:, :, c].swapaxes(-1, -2)) * scale
            s = _mask(s, np.arange(r.start, r.stop), np.arange(c.start, c.stop), causal)
            ref = blocks[min(i // tile_size, len(blocks) - 1)]
            ref = np.resize(ref, (*ref.shape[:2], s.shape[2])) if ref.shape[2] != s.shape[2] else ref
            p = np.exp(s - ref[..., None])
            dp = np.matmul(dO[:, :, r], V[:, :, c].swapaxes(-1, -2))
            ds = p * (dp - delta[:, :, r, None]) * scale
            dV[:, :, c] += np.matmul(p.swapaxes(-1, -2), dO[:, :, r])
            dK[:, :, c] += np.matmul(ds.swapaxes(-1, -2), Q[:, :, r])
            dQ[:, :, r] += np.matmul(ds, K[:, :, c])
    return dQ, dK, dV
