# right: a sequence is a ticket that never comes again; keys and values lie side by side in a page
# skips: quantized
# passes: paged
"""Grouped-query attention over :class:`PagedKV`, and the arithmetic of its memory."""
import numpy as np

from paged_kv import PagedKV


def attend(q, k, v):
    """Causal attention of the *last* n positions: q (n, H, d), k and v (S, Hkv, d) -> (n, H, d).

    Query head h reads kv head h // (H / Hkv).
    """
    n, heads, d = q.shape
    total, kv_heads, _ = k.shape
    grouped = q.reshape(n, kv_heads, heads // kv_heads, d) / np.sqrt(d)
    scores = np.einsum("ngrd,sgd->grns", grouped, k)
    future = np.arange(total)[None, :] > (total - n + np.arange(n))[:, None]
    scores[..., future] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores, out=scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("grns,sgd->ngrd", weights, v).reshape(n, heads, d)


class PagedAttentionLayer:
    """Projections wq (E, H*d), wk and wv (E, Hkv*d), wo (H*d, E) around a pool."""

    def __init__(self, wq, wk, wv, wo, *, heads, kv_heads, n_pages=64, page_size=4):
        if heads % kv_heads:
            raise ValueError("heads must be a multiple of kv_heads")
        self.wq, self.wk, self.wv, self.wo = wq, wk, wv, wo
        self.heads, self.kv_heads, self.dim = heads, kv_heads, wq.shape[1] // heads
        self.kv = PagedKV(n_pages, page_size, kv_heads, self.dim, wq.dtype)

    def extend(self, ticket, x):
        """Take in x (n, E), tokens that follow what the ticket holds; outputs (n, E)."""
        n = len(x)
        self.kv.append(ticket, (x @ self.wk).reshape(n, self.kv_heads, self.dim),
                       (x @ self.wv).reshape(n, self.kv_heads, self.dim))
        q = (x @ self.wq).reshape(n, self.heads, self.dim)
        return attend(q, *self.kv.read(ticket)).reshape(n, -1) @ self.wo

    def prefill(self, prompt, chunk=None):
        """Open a sequence with prompt (n, E), in chunks if asked: (ticket, outputs (n, E))."""
        ticket, step = self.kv.open(), chunk or max(1, len(prompt))
        try:
            outs = [self.extend(ticket, prompt[i:i + step]) for i in range(0, len(prompt), step)]
        except MemoryError:
            self.kv.close(ticket)
            raise
        return ticket, np.concatenate(outs) if outs else np.zeros_like(prompt)

    def decode(self, tickets, x):
        """One token for each of several sequences: tickets (n,), x (n, E) -> (n, E)."""
        return np.stack([self.extend(t, row[None])[0] for t, row in zip(tickets, x)])

    def finish(self, ticket):
        return self.kv.close(ticket)


def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    """Key and value, every layer and kv head."""
    return 2 * layers * kv_heads * head_dim * itemsize


def max_context(gpu_gib, weight_bytes, layers, kv_heads, head_dim, itemsize=2, batch=1):
    """Tokens per sequence that fit beside the weights on a card of gpu_gib * 2**30 bytes."""
    room = int(gpu_gib * 2 ** 30) - weight_bytes
    return max(0, room // (batch * kv_bytes_per_token(layers, kv_heads, head_dim, itemsize)))
