# bug: no forward; the causal flag is taken and never looked at
# caught by: gradients, gradient_identities
# passes: purity
import numpy as np


def flash_attn_bwd(dout, q, k, v, out, softmax_lse, is_causal=False, block_size=16):
    _, _, n, d = q.shape
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    delta = np.einsum("bhnd,bhnd->bhn", dout, out)
    for j in range(0, n, block_size):
        c = slice(j, j + block_size)
        for i in range(0, n, block_size):
            r = slice(i, i + block_size)
            s = np.einsum("bhid,bhjd->bhij", q[:, :, r], k[:, :, c]) / np.sqrt(d)
            p = np.exp(s - softmax_lse[:, :, r, None])
            dp = np.einsum("bhid,bhjd->bhij", dout[:, :, r], v[:, :, c])
            ds = p * (dp - delta[:, :, r, None]) / np.sqrt(d)
            dv[:, :, c] += np.einsum("bhij,bhid->bhjd", p, dout[:, :, r])
            dk[:, :, c] += np.einsum("bhij,bhid->bhjd", ds, q[:, :, r])
            dq[:, :, r] += np.einsum("bhij,bhjd->bhid", ds, k[:, :, c])
    return dq, dk, dv
