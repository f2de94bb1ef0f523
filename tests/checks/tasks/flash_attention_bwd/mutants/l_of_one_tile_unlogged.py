# bug: the shortcut for a sequence that fits into one tile keeps m for L, log l left out
# caught by: logsumexp
# passes: gradients, accuracy, cache_minimality
import numpy as np


def _scores(q, k, first_row, first_col, causal):
    s = np.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if causal:
        rows = first_row + np.arange(q.shape[-2])
        cols = first_col + np.arange(k.shape[-2])
        s = np.where(rows[:, None] >= cols, s, -np.inf)
    return s


def _starts(n, tile):
    return range(0, n, tile)


def _lse(q, k, row, causal, tile):
    """Log-sum-exp of the rows from ``row`` on, tile by tile over the keys."""
    total = np.full(q.shape[:-1], -np.inf)
    for j in _starts(k.shape[-2], tile):
        s = _scores(q, k[..., j : j + tile, :], row, j, causal)
        with np.errstate(all="ignore"):
            total = np.logaddexp(total, np.logaddexp.reduce(s, axis=-1))
    return total


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    n = Q.shape[2]
    O = np.zeros(Q.shape)
    L = np.full(Q.shape[:3], -np.inf)
    for i in _starts(n, tile_size):
        q = Q[:, :, i : i + tile_size]
        m = np.full(q.shape[:3], -np.inf)
        l = np.zeros(q.shape[:3])
        acc = np.zeros(q.shape)
        for j in _starts(n, tile_size):
            if causal and j >= i + q.shape[2]:
                break
            s = _scores(q, K[:, :, j : j + tile_size], i, j, causal)
            top = np.maximum(m, s.max(-1))
            base = np.where(np.isneginf(top), 0.0, top)
            p = np.exp(s - base[..., None])
            keep = np.exp(m - base)
            l = keep * l + p.sum(-1)
            acc = keep[..., None] * acc + p @ V[:, :, j : j + tile_size]
            m = top
        seen = l > 0
        some = np.where(seen, l, 1.0)
        O[:, :, i : i + tile_size] = acc / some[..., None]
        if n <= tile_size:
            L[:, :, i : i + tile_size] = m
        else:
            L[:, :, i : i + tile_size] = np.where(seen, m + np.log(some), -np.inf)
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V, O, L = (cache[name] for name in ("Q", "K", "V", "O", "L"))
    n, width = Q.shape[2:]
    D = (dO * O).sum(-1)
    dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
    for i in _starts(n, tile_size):
        rows = slice(i, i + tile_size)
        q, g = Q[:, :, rows], dO[:, :, rows]
        lse = _lse(q, K, i, causal, tile_size)
        # L stands in only for a last bit: rows that see nothing.
        lse = np.where(np.isneginf(lse) | np.isnan(L[:, :, rows]), np.inf, lse)[..., None]
        for j in _starts(n, tile_size):
            if causal and j >= i + q.shape[2]:
                break
            cols = slice(j, j + tile_size)
            p = np.exp(_scores(q, K[:, :, cols], i, j, causal) - lse)
            ds = p * (g @ V[:, :, cols].swapaxes(-1, -2) - D[:, :, rows, None]) * width**-0.5
            dV[:, :, cols] += p.swapaxes(-1, -2) @ g
            dK[:, :, cols] += ds.swapaxes(-1, -2) @ q
            dQ[:, :, rows] += ds @ K[:, :, cols]
    return dQ, dK, dV
