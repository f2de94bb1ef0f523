# bug: the first token of every block of 32 but the first is read from the block before
# caught by: incremental_equals_full
import numpy as np

BLOCK = 32


def empty_cache():
    return {"blocks": [], "tokens": 0}


def cached_attention(q, k, v, cache):
    for t in range(k.shape[2]):
        slot = cache["tokens"] % BLOCK
        if slot == 0:
            cache["blocks"].append(np.zeros((2, k.shape[0], k.shape[1], BLOCK, k.shape[3]), k.dtype))
        cache["blocks"][-1][0, :, :, slot], cache["blocks"][-1][1, :, :, slot] = k[:, :, t], v[:, :, t]
        cache["tokens"] += 1
    K, V = (np.concatenate([b[i] for b in cache["blocks"]], axis=2)[:, :, :cache["tokens"]] for i in (0, 1))
    K = K.copy()
    K[:, :, BLOCK::BLOCK] = K[:, :, BLOCK - 1:-1:BLOCK]
    s = q @ K.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    hidden = np.arange(K.shape[2]) > np.arange(K.shape[2] - q.shape[2], K.shape[2])[:, None]
    s = np.where(hidden, -np.inf, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ V
