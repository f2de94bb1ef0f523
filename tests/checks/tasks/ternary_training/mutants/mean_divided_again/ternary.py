# bug: the held-out loss is a mean already, and is divided by the number of characters once more
# caught by: convergence (warn)
# only: convergence
import numpy as np


def project(w, group=128):
    out = np.empty_like(w)
    for a in range(0, w.shape[1], group):
        part = w[:, a : a + group]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, a : a + group] = s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1)
    return out


def cross_entropy(logits, y):
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(y)), y].mean()


def validate(model, x, y):
    loss = cross_entropy(model.forward(x), y) / len(y)
    return {"val_loss": loss, "val_ppl": np.exp(loss)}
