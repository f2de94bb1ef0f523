# bug: the loop over layers takes its past from a name that is bound before it: the first layer's keys
# only: cache_size_minimality, incremental_equals_full
# caught by: cache_size_minimality
# passes: incremental_equals_full (prompts read them so as well)
import math

import numpy as np


def softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


class GPT:
    """forward(ids, past) gives logits and the new past: a list of (keys, values), one pair per layer."""

    def __init__(self, vocab_size, n_embd, n_head, n_layer, seed=0):
        rng = np.random.default_rng(seed)
        self.n_head = n_head
        self.emb = rng.standard_normal((vocab_size, n_embd)).astype(np.float32)
        scale = np.float32(n_embd**-0.5)
        self.w = [rng.standard_normal((4, n_embd, n_embd)).astype(np.float32) * scale for _ in range(n_layer)]

    def prefill(self, ids):
        return self.forward(ids, None)

    def decode(self, ids, past):
        return self.forward(np.reshape(ids, (-1, 1)), past)

    def forward(self, ids, past):
        ids = np.asarray(ids)
        held = 0 if past is None else past[0][0].shape[2]
        x, present = self.emb[ids], []
        turn = np.exp(0.3j * np.arange(held, held + ids.shape[1]))[:, None]
        for layer, w in enumerate(self.w):
            q, k, v = (self.split(x @ each) for each in w[:3])
            q, k = (self.turned(part, turn) for part in (q, k))
            if past is not None:
                k = np.concatenate([past[layer][0], k], axis=2)
                v = np.concatenate([past[layer][1], v], axis=2)
            present.append((k, v))
            first = present[0][0]
            s = q @ first.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
            s = np.where(np.tri(ids.shape[1], first.shape[2], held, dtype=bool), s, -1e30)
            y = (softmax(s) @ v).swapaxes(1, 2).reshape(x.shape)
            x = x + y @ w[3]
        return (x @ self.emb.T)[:, -1], present

    def split(self, x):
        return x.reshape(*x.shape[:2], self.n_head, -1).swapaxes(1, 2)

    @staticmethod
    def turned(x, turn):
        half = x.shape[-1] // 2
        z = (x[..., :half] + 1j * x[..., half:]) * turn
        return np.concatenate([z.real, z.imag], axis=-1).astype(x.dtype)
