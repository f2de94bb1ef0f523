# A model of functions: parameters come first, the cache is a list that goes in and comes out.
# skips: variable_lengths (no call takes lengths), isolation (the cache is inside), capacity (the cache is inside)
import numpy as np


def init_params(vocab_size, d_model, n_heads, n_layers, seed=0):
    r = np.random.default_rng(seed)
    layers = [r.normal(size=(4, d_model, d_model)) / d_model ** 0.5 for _ in range(n_layers)]
    return {"embedding": r.normal(size=(vocab_size, d_model)), "layers": layers, "heads": n_heads}


def forward(params, tokens, cache=None):
    x, present = params["embedding"][tokens], []
    B, T, E = x.shape
    for i, w in enumerate(params["layers"]):
        q, k, v = ((x @ m).reshape(B, T, params["heads"], -1).swapaxes(1, 2) for m in w[:3])
        if cache is not None:
            k, v = np.concatenate([cache[i][0], k], 2), np.concatenate([cache[i][1], v], 2)
        present.append((k, v))
        s = q @ k.swapaxes(2, 3) / np.sqrt(k.shape[-1])
        s = np.where(np.tril(np.ones(s.shape[-2:], bool), k.shape[2] - T), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        x = x + (p / p.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(B, T, E) @ w[3]
    return x @ params["embedding"].T, present


def prefill(params, tokens):
    return forward(params, tokens)


def decode_step(params, token, cache):
    return forward(params, token, cache)
