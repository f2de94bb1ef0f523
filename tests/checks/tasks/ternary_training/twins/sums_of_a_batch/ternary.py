# right: the training loss is the sum over a batch, the held-out one a mean over batches of batches
# only: convergence
import numpy as np


def project(w, group=128):
    out = np.empty_like(w)
    for a in range(0, w.shape[1], group):
        part = w[:, a : a + group]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, a : a + group] = s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1)
    return out


def losses(model, x, y):
    logits = model.forward(x)
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(y)), y]


def evaluate(model, shards):
    total = 0.0
    for shard in shards:
        part = 0.0
        for x, y in shard:
            part += losses(model, x, y).mean()
        part /= len(shard)
        total += part
    total /= len(shards)
    return total
