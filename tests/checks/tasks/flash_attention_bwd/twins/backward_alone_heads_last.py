# style: no forward at all; (B, N, H, D) with L (B, H, N) in base 2, a dict of gradients, loops over pairs
# only: gradients, gradient_identities, purity
import numpy as np

LOG2E = np.log2(np.e)


def attention_vjp(dout, q, k, v, attn_out, logsumexp, is_causal, chunk_size=8):
    batch, length, heads, dim = q.shape
    grads = {name: np.zeros_like(a) for name, a in (("dq", q), ("dk", k), ("dv", v))}
    for b in range(batch):
        for h in range(heads):
            parts = (a[b, :, h] for a in (q, k, v, dout, attn_out))
            found = _one_head(*parts, logsumexp[b, h], is_causal, chunk_size)
            for name, value in zip(("dq", "dk", "dv"), found):
                grads[name][b, :, h] = value
    return grads


def _one_head(q, k, v, do, o, lse, is_causal, size):
    n, dim = q.shape
    turn = LOG2E / np.sqrt(dim)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for i in range(0, n, size):
        for j in range(0, n, size):
            if is_causal and j > i + size - 1:
                continue
            s = turn * (q[i:i + size] @ k[j:j + size].T)
            p = np.exp2(s - lse[i:i + size, None])
            if is_causal:
                later = np.arange(j, j + s.shape[1])[None] > np.arange(i, i + s.shape[0])[:, None]
                p[later] = 0.0
            dp = do[i:i + size] @ v[j:j + size].T
            ds = p * (dp - (do[i:i + size] * o[i:i + size]).sum(-1)[:, None]) / np.sqrt(dim)
            dv[j:j + size] += p.T @ do[i:i + size]
            dk[j:j + size] += ds.T @ q[i:i + size]
            dq[i:i + size] += ds @ k[j:j + size]
    return dq, dk, dv
