# bug: the first walk overwrites the row sum instead of adding to it
# caught by: gradients, gradient_identities
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass
class AttentionContext:
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    output: np.ndarray
    logsumexp: np.ndarray


class Gradients(NamedTuple):
    values: np.ndarray
    keys: np.ndarray
    queries: np.ndarray


def _spans(length, size):
    start = 0
    while start < length:
        yield start, min(start + size, length)
        start += size


def _weights(ctx, b, h, rows, cols, causal, reference):
    (r0, r1), (c0, c1) = rows, cols
    scores = ctx.queries[b, h, r0:r1] @ ctx.keys[b, h, c0:c1].T / np.sqrt(ctx.queries.shape[-1])
    if causal:
        scores = np.where(np.arange(r0, r1)[:, None] >= np.arange(c0, c1)[None, :], scores, -np.inf)
    return np.exp(scores - reference)


def attention_forward(queries, keys, values, block_q, block_k, causal=True):
    B, H, N, D = queries.shape
    ctx = AttentionContext(queries, keys, values, np.zeros(queries.shape), np.full((B, H, N, 1), -np.inf))
    for b, h in np.ndindex(B, H):
        for r0, r1 in _spans(N, block_q):
            top, total, acc = np.full((r1 - r0, 1), -np.inf), np.zeros((r1 - r0, 1)), np.zeros((r1 - r0, D))
            for c0, c1 in _spans(N, block_k):
                if causal and c0 >= r1:
                    break
                scores = queries[b, h, r0:r1] @ keys[b, h, c0:c1].T / np.sqrt(D)
                if causal:
                    scores = np.where(np.arange(r0, r1)[:, None] >= np.arange(c0, c1), scores, -np.inf)
                new = np.maximum(top, scores.max(axis=1, keepdims=True))
                finite = np.where(np.isneginf(new), 0.0, new)
                weights = np.exp(scores - finite)
                old = np.exp(top - finite)
                total = old * total + weights.sum(axis=1, keepdims=True)
                acc = old * acc + weights @ values[b, h, c0:c1]
                top = new
            some = total[:, 0] > 0
            ctx.output[b, h, r0:r1][some] = acc[some] / total[some]
            ctx.logsumexp[b, h, r0:r1][some] = top[some] + np.log(total[some])
    return ctx.output, ctx


def attention_backward(ctx, grad_output, block_q, block_k, causal=True):
    B, H, N, D = ctx.queries.shape
    dq, dk, dv = (np.zeros(ctx.queries.shape) for _ in range(3))
    for b, h in np.ndindex(B, H):
        for r0, r1 in _spans(N, block_q):
            lse = ctx.logsumexp[b, h, r0:r1]
            lse = np.where(np.isneginf(lse), np.inf, lse)
            g = grad_output[b, h, r0:r1]
            spans = [(c0, c1) for c0, c1 in _spans(N, block_k) if not (causal and c0 >= r1)]
            row = np.zeros((r1 - r0, 1))
            for c0, c1 in spans:
                p = _weights(ctx, b, h, (r0, r1), (c0, c1), causal, lse)
                row = (p * (g @ ctx.values[b, h, c0:c1].T)).sum(axis=1, keepdims=True)
            for c0, c1 in spans:
                p = _weights(ctx, b, h, (r0, r1), (c0, c1), causal, lse)
                ds = p * (g @ ctx.values[b, h, c0:c1].T - row) / np.sqrt(D)
                dv[b, h, c0:c1] += p.T @ g
                dk[b, h, c0:c1] += ds.T @ ctx.queries[b, h, r0:r1]
                dq[b, h, r0:r1] += ds @ ctx.keys[b, h, c0:c1]
    return Gradients(values=dv, keys=dk, queries=dq)
