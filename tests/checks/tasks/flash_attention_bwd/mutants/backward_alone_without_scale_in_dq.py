# bug: no forward; dQ lacks the factor 1/sqrt(D) that dK has
# caught by: gradients, gradient_identities
# passes: purity
import numpy as np


def flash_backward(q, k, v, o, lse, do, block=16, causal=False):
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    scale, n = q.shape[-1] ** -0.5, q.shape[-2]
    delta = (do * o).sum(-1)
    for i in range(0, n, block):
        for j in range(0, n, block):
            s = scale * q[..., i:i + block, :] @ np.swapaxes(k[..., j:j + block, :], -1, -2)
            if causal:
                ahead = np.arange(j, j + s.shape[-1]) > np.arange(i, i + s.shape[-2])[:, None]
                s = np.where(ahead, -np.inf, s)
            p = np.exp(s - lse[..., i:i + block, None])
            dp = do[..., i:i + block, :] @ np.swapaxes(v[..., j:j + block, :], -1, -2)
            ds = p * (dp - delta[..., i:i + block, None])
            dv[..., j:j + block, :] += np.swapaxes(p, -1, -2) @ do[..., i:i + block, :]
            dk[..., j:j + block, :] += scale * np.swapaxes(ds, -1, -2) @ q[..., i:i + block, :]
            dq[..., i:i + block, :] += ds @ k[..., j:j + block, :]
    return dq, dk, dv
