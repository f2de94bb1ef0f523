# bug: with a cache the positions count from zero again
# caught by: incremental_equals_full
import numpy as np


def init_params(vocab_size, d_model, n_layers, max_len, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "wte": rng.normal(size=(vocab_size, d_model)),
        "wpe": rng.normal(size=(max_len, d_model)),
        "layers": [[rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)] for _ in range(n_layers)],
    }


def lm_forward(inputs, params, n_heads, past=None):
    """inputs (B, T) ids; past: keys and values of every layer, or None. Returns (logits, past)."""
    inputs = np.asarray(inputs)
    batch, count = inputs.shape
    x = params["wte"][inputs] + params["wpe"][:count]
    present = []
    for n, (wq, wk, wv, wo) in enumerate(params["layers"]):
        q, k, v = ((x @ w).reshape(batch, count, n_heads, -1).transpose(0, 2, 1, 3) for w in (wq, wk, wv))
        if past is not None:
            k = np.concatenate([past[n][0], k], axis=2)
            v = np.concatenate([past[n][1], v], axis=2)
        present.append((k, v))
        s = np.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(q.shape[-1])
        s = np.where(np.tri(count, k.shape[2], k.shape[2] - count) > 0, s, -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        x = x + np.einsum("bhts,bhsd->bthd", p, v).reshape(batch, count, -1) @ wo
    return x @ params["wte"].T, tuple(present)
