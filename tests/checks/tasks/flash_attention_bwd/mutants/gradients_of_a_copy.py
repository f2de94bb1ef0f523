# bug: gradients have the order of their inputs in memory, and what is added up are copies where that is no plain one
# caught by: gradients
import numpy as np


def _tiles(n, size):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _scores(q, k, rows, columns, causal):
    s = q[rows] @ k[columns].T / np.sqrt(q.shape[-1])
    if causal:
        i, j = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
        s = np.where(j <= i[:, None], s, -np.inf)
    return s


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    n, d = Q.shape[-2:]
    O, L = np.zeros(Q.shape), np.zeros(Q.shape[:-1])
    parts = [x.reshape(-1, n, d) for x in (Q, K, V, O)]
    for q, k, v, o, lse in zip(*parts, L.reshape(-1, n)):
        for rows in _tiles(n, tile_size):
            size = rows.stop - rows.start
            m, l, acc = np.full((size, 1), -np.inf), np.zeros((size, 1)), np.zeros((size, d))
            for columns in _tiles(n, tile_size):
                if causal and columns.start >= rows.stop:
                    continue
                s = _scores(q, k, rows, columns, causal)
                new = np.maximum(m, s.max(1, keepdims=True))
                p, old = np.exp(s - new), np.exp(m - new)
                l, acc, m = old * l + p.sum(1, keepdims=True), old * acc + p @ v[columns], new
            o[rows], lse[rows] = acc / l, (m + np.log(l))[:, 0]
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V, O, L = (cache[name] for name in "QKVOL")
    n, d = Q.shape[-2:]
    out = [np.zeros_like(x) for x in (Q, K, V)]
    parts = [x.reshape(-1, n, d) for x in (Q, K, V, O, dO, *out)]
    for q, k, v, o, do, dq, dk, dv, lse in zip(*parts, L.reshape(-1, n)):
        delta = (do * o).sum(1)
        for rows in _tiles(n, tile_size):
            for columns in _tiles(n, tile_size):
                if causal and columns.start >= rows.stop:
                    continue
                p = np.exp(_scores(q, k, rows, columns, causal) - lse[rows, None])
                ds = p * (do[rows] @ v[columns].T - delta[rows, None]) / np.sqrt(d)
                dq[rows] += ds @ k[columns]
                dk[columns] += ds.T @ q[rows]
                dv[columns] += p.T @ do[rows]
    return tuple(out)
