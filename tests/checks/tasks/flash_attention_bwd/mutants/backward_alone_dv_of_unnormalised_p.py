# bug: no forward; dV adds up exp(S - max) and not P, which the log-sum-exp normalises
# caught by: gradients, gradient_identities
# passes: purity
import numpy as np


def attention_backward(dout, q, k, v, out, lse, causal):
    scale = 1 / np.sqrt(q.shape[-1])
    s = scale * q @ k.transpose(0, 1, 3, 2)
    if causal:
        s = s + np.triu(np.full(s.shape[-2:], -np.inf), 1)
    raw = np.exp(s - s.max(-1, keepdims=True))
    p = np.exp(s - lse[..., None])
    dv = raw.transpose(0, 1, 3, 2) @ dout
    ds = p * (dout @ v.transpose(0, 1, 3, 2) - (dout * out).sum(-1, keepdims=True))
    dq = scale * ds @ k
    dk = scale * ds.transpose(0, 1, 3, 2) @ q
    return dq, dk, dv
