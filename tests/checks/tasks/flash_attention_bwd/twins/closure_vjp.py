# style: forward gives O and a function that gives the gradients; base two inside
# warns: logsumexp (in base 2)
# slow: peak_memory
import numpy as np

LOG2E = 1.4426950408889634


def flash_attention_vjp(q, k, v, tile=16, causal=True):
    n, d = q.shape[2], q.shape[3]
    c = LOG2E / d ** 0.5
    starts = range(0, n, tile)

    def scores(i, j):
        s = (q[:, :, i:i + tile] * c) @ k[:, :, j:j + tile].transpose(0, 1, 3, 2)
        if causal and j + tile > i:
            rows = np.arange(i, i + s.shape[2])
            s[:, :, rows[:, None] < np.arange(j, j + s.shape[3])[None]] = -np.inf
        return s

    o, lse2 = [], []
    for i in starts:
        m = l = acc = None
        for j in starts:
            if causal and j >= i + tile:
                break
            s = scores(i, j)
            top = s.max(-1, keepdims=True)
            new = top if m is None else np.maximum(m, top)
            ref = np.where(np.isneginf(new), 0, new)
            p = np.exp2(s - ref)
            if m is None:
                l, acc = p.sum(-1, keepdims=True), p @ v[:, :, j:j + tile]
            else:
                f = np.exp2(m - ref)
                l, acc = l * f + p.sum(-1, keepdims=True), acc * f + p @ v[:, :, j:j + tile]
            m = new
        seen = l > 0
        o.append(acc / np.where(seen, l, 1))
        lse2.append(np.where(seen, m + np.log2(np.where(seen, l, 1)), np.inf))
    o, lse2 = np.concatenate(o, 2), np.concatenate(lse2, 2)

    def backward(dO):
        dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
        delta = (dO * o).sum(-1, keepdims=True)
        for j in starts:
            for i in starts:
                if causal and j >= i + tile:
                    continue
                p = np.exp2(scores(i, j) - lse2[:, :, i:i + tile])
                g = dO[:, :, i:i + tile]
                dv[:, :, j:j + tile] += p.transpose(0, 1, 3, 2) @ g
                ds = p * (g @ v[:, :, j:j + tile].transpose(0, 1, 3, 2) - delta[:, :, i:i + tile]) / d ** 0.5
                dq[:, :, i:i + tile] += ds @ k[:, :, j:j + tile]
                dk[:, :, j:j + tile] += ds.transpose(0, 1, 3, 2) @ q[:, :, i:i + tile]
        return dq, dk, dv

    return o, backward
