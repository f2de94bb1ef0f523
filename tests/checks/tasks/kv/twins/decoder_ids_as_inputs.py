# style: functions over a dict of parameters; ids go by the name of inputs, and the first call is given no cache
# only: incremental_equals_full, growth
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def dense(x, layer):
    return x @ layer["w"] + layer["b"]


def attend(x, block, n_head, past):
    q, k, v = np.split(dense(x, block["qkv"]), 3, axis=-1)
    if past is not None:
        k, v = np.vstack([past[0], k]), np.vstack([past[1], v])
    unseen = 1.0 - np.tri(len(q), len(k), len(k) - len(q))
    heads = [
        softmax(a @ b.T / np.sqrt(a.shape[-1]) - 1e10 * unseen) @ c
        for a, b, c in zip(*(np.split(side, n_head, axis=-1) for side in (q, k, v)), strict=True)
    ]
    return dense(np.hstack(heads), block["out"]), (k, v)


def gpt_forward(inputs, params, n_head, kvcache=None):
    """Logits (n, n_vocab) of some ids behind those of the cache, and the cache with them."""
    kept = kvcache or [None] * len(params["blocks"])
    start = 0 if kept[0] is None else len(kept[0][0])
    x = params["wte"][inputs] + params["wpe"][start : start + len(inputs)]
    after = []
    for block, past in zip(params["blocks"], kept, strict=True):
        mixed, past = attend(x, block, n_head, past)
        x = x + mixed
        x = x + dense(np.tanh(dense(x, block["up"])), block["down"])
        after.append(past)
    return x @ params["wte"].T, after


def init_params(n_vocab, n_ctx, n_embd, n_layer, seed=0):
    rng = np.random.default_rng(seed)

    def layer(rows, columns):
        return {"w": rng.normal(size=(rows, columns)) / np.sqrt(rows), "b": 0.1 * rng.normal(size=columns)}

    def block():
        sizes = {"qkv": (1, 3), "out": (1, 1), "up": (1, 2), "down": (2, 1)}
        return {name: layer(rows * n_embd, columns * n_embd) for name, (rows, columns) in sizes.items()}

    return {
        "wte": rng.normal(size=(n_vocab, n_embd)), "wpe": rng.normal(size=(n_ctx, n_embd)),
        "blocks": [block() for _ in range(n_layer)],
    }


def generate(prompt, params, n_head, n_tokens):
    ids, cache, given = list(prompt), None, list(prompt)
    for _ in range(n_tokens):
        logits, cache = gpt_forward(given, params, n_head, cache)
        given = [int(logits[-1].argmax())]
        ids += given
    return ids
