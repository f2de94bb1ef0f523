# bug: the sum over held-out batches is divided within their loop, so that little but the last batch is left
# caught by: convergence
# only: convergence
import numpy as np


def project(w, group=128):
    out = np.empty_like(w)
    for a in range(0, w.shape[1], group):
        part = w[:, a : a + group]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, a : a + group] = s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1)
    return out


def held_out_loss(model, batches):
    running = 0.0
    for x, y in batches:
        logits = model.forward(x)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        running += -log_p[np.arange(len(y)), y].mean()
        running = running / len(batches)
    return running
