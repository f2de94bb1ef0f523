# style: no forward at all; the backward is handed O and the log-sum-exp, one sequence of heads at a time
# only: gradients, gradient_identities, purity
import numpy as np


def flash_attention_backward(grad_out, query, key, value, out, softmax_lse, block_size=32, causal=False):
    h, n, d = query.shape
    scale = 1.0 / np.sqrt(d)
    row_dot = np.einsum("hnd,hnd->hn", grad_out, out)
    grad_q, grad_k, grad_v = (np.zeros_like(a) for a in (query, key, value))
    for start in range(0, n, block_size):
        cols = np.arange(start, min(start + block_size, n))
        for first in range(start if causal else 0, n, block_size):
            rows = np.arange(first, min(first + block_size, n))
            s = scale * query[:, rows] @ key[:, cols].transpose(0, 2, 1)
            p = np.exp(s - softmax_lse[:, rows, None])
            if causal:
                p = p * (cols[None, :] <= rows[:, None])
            grad_v[:, cols] += p.transpose(0, 2, 1) @ grad_out[:, rows]
            dp = grad_out[:, rows] @ value[:, cols].transpose(0, 2, 1)
            ds = scale * p * (dp - row_dot[:, rows, None])
            grad_q[:, rows] += ds @ key[:, cols]
            grad_k[:, cols] += ds.transpose(0, 2, 1) @ query[:, rows]
        if causal and start % block_size:
            raise AssertionError("tiles start at multiples of their size")
    return grad_q, grad_k, grad_v
