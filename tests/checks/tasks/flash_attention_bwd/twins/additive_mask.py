# style: causal or not is an additive mask that the caller hands over; the backward takes what the forward took and gave
from dataclasses import dataclass

import numpy as np


@dataclass
class Forward:
    output: np.ndarray
    logsumexp: np.ndarray


def _tiles(n, size):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _scores(q, k, mask, rows, columns):
    s = np.einsum("...qd,...kd->...qk", q[..., rows, :], k[..., columns, :]) / np.sqrt(q.shape[-1])
    return s if mask is None else s + mask[..., rows, columns]


def flash_attention_forward(q, k, v, mask=None, block_size=64):
    n = q.shape[-2]
    out, lse = np.zeros(q.shape), np.full(q.shape[:-1], -np.inf)
    for rows in _tiles(n, block_size):
        m = np.full(lse[..., rows].shape, -np.inf)
        l, acc = np.zeros_like(m), np.zeros(out[..., rows, :].shape)
        for columns in _tiles(n, block_size):
            s = _scores(q, k, mask, rows, columns)
            new = np.maximum(m, s.max(-1))
            safe = np.where(np.isneginf(new), 0.0, new)
            p = np.exp(s - safe[..., None])
            scale = np.exp(m - safe)
            l = l * scale + p.sum(-1)
            acc = acc * scale[..., None] + np.einsum("...qk,...kd->...qd", p, v[..., columns, :])
            m = new
        seen = l > 0
        out[..., rows, :] = acc / np.where(seen, l, 1.0)[..., None]
        lse[..., rows] = np.where(seen, m + np.log(np.where(seen, l, 1.0)), -np.inf)
    return Forward(out, lse)


def flash_attention_backward(grad_output, q, k, v, forward, mask=None, block_size=64):
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    delta = (grad_output * forward.output).sum(-1)
    shift = np.where(np.isneginf(forward.logsumexp), 0.0, forward.logsumexp)
    for rows in _tiles(q.shape[-2], block_size):
        for columns in _tiles(q.shape[-2], block_size):
            p = np.exp(_scores(q, k, mask, rows, columns) - shift[..., rows, None])
            do = grad_output[..., rows, :]
            ds = p * (np.einsum("...qd,...kd->...qk", do, v[..., columns, :]) - delta[..., rows, None]) / np.sqrt(q.shape[-1])
            dv[..., columns, :] += np.einsum("...qk,...qd->...kd", p, do)
            dk[..., columns, :] += np.einsum("...qk,...qd->...kd", ds, q[..., rows, :])
            dq[..., rows, :] += np.einsum("...qk,...kd->...qd", ds, k[..., columns, :])
    return dq, dk, dv
