# bug: with the mask, pairs of tiles below the diagonal are skipped in the backward, and those above are visited
# caught by: gradients, gradient_identities
# only: gradients, gradient_identities
import numpy as np


def _attend(q, k, v, tile, causal):
    """One head: O (N, D) and L (N,)."""
    n, d = q.shape
    out, lse = np.zeros_like(q), np.full(n, -np.inf, dtype=q.dtype)
    for i in range(0, n, tile):
        rows = np.arange(i, min(i + tile, n))
        m, l = np.full(len(rows), -np.inf, dtype=q.dtype), np.zeros(len(rows), dtype=q.dtype)
        acc = np.zeros((len(rows), d), dtype=q.dtype)
        for j in range(0, rows[-1] + 1 if causal else n, tile):
            keys = np.arange(j, min(j + tile, n))
            s = q[rows] @ k[keys].T / q.dtype.type(d**0.5)
            if causal:
                s[keys[None, :] > rows[:, None]] = -np.inf
            top = np.maximum(m, s.max(axis=1))
            safe = np.where(np.isneginf(top), 0, top).astype(q.dtype)
            p, shrink = np.exp(s - safe[:, None]), np.exp(m - safe)
            l = l * shrink + p.sum(axis=1)
            acc = acc * shrink[:, None] + p @ v[keys]
            m = top
        some = l > 0
        out[rows[some]] = acc[some] / l[some, None]
        lse[rows[some]] = m[some] + np.log(l[some])
    return out, lse


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    O, L = np.zeros_like(Q), np.zeros(Q.shape[:3], dtype=Q.dtype)
    for at in np.ndindex(*Q.shape[:2]):
        O[at], L[at] = _attend(Q[at], K[at], V[at], tile_size, causal)
    return O, {"Q": Q, "K": K, "V": V, "O": O, "L": L}


def _padded(x, length):
    out = np.zeros((length, x.shape[1]), dtype=x.dtype)
    out[: len(x)] = x
    return out


def _differentiate(q, k, v, o, lse, do, tile, causal):
    n, d = q.shape
    scale = q.dtype.type(d**-0.5)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    delta = (do * o).sum(axis=1)
    sees = ~np.isneginf(lse)
    level = np.where(sees, lse, 0).astype(q.dtype)
    block = tile
    for j in range(0, n, block):
        keys = slice(j, min(j + block, n))
        kj, vj = _padded(k[keys], block), _padded(v[keys], block)
        places = np.arange(j, j + block)
        more_k, more_v = np.zeros_like(kj), np.zeros_like(vj)
        for i in range(0, n, tile):
            rows = np.arange(i, min(i + tile, n))
            if causal and i > j:
                continue
            s = q[rows] @ kj.T * scale
            if causal:
                s = np.where(places[None, :] > rows[:, None], -np.inf, s)
            if j + block > n:
                s = np.where(places[None, :] < n, s, -np.inf)
            p = np.where(sees[rows, None], np.exp(s - level[rows, None]), 0).astype(q.dtype)
            dp = do[rows] @ vj.T
            ds = p * (dp - delta[rows, None])
            dq[rows] += ds @ kj * scale
            more_k += ds.T @ q[rows] * scale
            more_v += p.T @ do[rows]
        dk[keys], dv[keys] = more_k[: keys.stop - j], more_v[: keys.stop - j]
    return dq, dk, dv


def flash_attention_bwd(dO, cache, tile_size=64, causal=True):
    Q, K, V, O, L = (cache[name] for name in ("Q", "K", "V", "O", "L"))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for at in np.ndindex(*Q.shape[:2]):
        dQ[at], dK[at], dV[at] = _differentiate(
            Q[at], K[at], V[at], O[at], L[at], dO[at], tile_size, causal
        )
    return dQ, dK, dV
