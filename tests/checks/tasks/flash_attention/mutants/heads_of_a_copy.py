# bug: O has the order of Q in memory, and its heads are those of a copy where that is no plain one
# caught by: accuracy
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    n, d = Q.shape[-2:]
    O = np.zeros_like(Q)
    heads = [x.reshape(-1, n, d) for x in (Q, K, V, O)]
    for q, k, v, o in zip(*heads):
        for start in range(0, n, tile_size):
            rows = np.arange(start, min(start + tile_size, n))
            m, l, acc = np.full((len(rows), 1), -np.inf), np.zeros((len(rows), 1)), np.zeros((len(rows), d))
            last = rows[-1] + 1 if causal else n
            for left in range(0, last, tile_size):
                columns = np.arange(left, min(left + tile_size, last))
                s = q[rows] @ k[columns].T / np.sqrt(d)
                if causal:
                    s = np.where(columns <= rows[:, None], s, -np.inf)
                new = np.maximum(m, s.max(1, keepdims=True))
                p, old = np.exp(s - new), np.exp(m - new)
                l, acc, m = old * l + p.sum(1, keepdims=True), old * acc + p @ v[columns], new
            o[rows] = acc / l
    return O
