# bug: queries are scaled, and the scores again
# caught by: incremental_equals_full
import numpy as np


def init_params(vocab, d_model, n_heads, n_layers, seed=0):
    g = np.random.default_rng(seed)
    mats = lambda: {name: g.normal(size=(d_model, d_model)) / d_model**0.5 for name in ("wq", "wk", "wv", "wo")}
    return {"emb": g.normal(size=(vocab, d_model)), "layers": [mats() for _ in range(n_layers)], "n": n_heads}


def attend(params, w, x, past):
    cut = lambda y: y.reshape(*x.shape[:2], params["n"], -1).swapaxes(1, 2)
    q, k, v = cut(x @ w["wq"]), cut(x @ w["wk"]), cut(x @ w["wv"])
    width = q.shape[-1]
    q = q / np.sqrt(width)
    if past is not None:
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    s = q @ k.swapaxes(2, 3) / np.sqrt(width)
    s = np.where(np.tri(*s.shape[2:], s.shape[3] - s.shape[2], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(x.shape) @ w["wo"], (k, v)


def prefill(params, tokens):
    return decode(params, tokens, [None] * len(params["layers"]))


def decode(params, tokens, cache):
    tokens = np.asarray(tokens)
    x, new = params["emb"][tokens if tokens.ndim == 2 else tokens[:, None]], []
    for w, past in zip(params["layers"], cache):
        y, kept = attend(params, w, x, past)
        x = x + y
        new.append(kept)
    return x[:, -1] @ params["emb"].T, new
