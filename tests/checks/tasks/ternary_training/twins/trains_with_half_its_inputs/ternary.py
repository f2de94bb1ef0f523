# right: half of the inputs are dropped in training, so that held-out text is far easier in the end
# only: convergence
import numpy as np


def project(w, group=128):
    out = np.empty_like(w)
    for a in range(0, w.shape[1], group):
        part = w[:, a : a + group]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, a : a + group] = s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1)
    return out


def batch_loss(model, x, y, rng=None):
    if rng is not None:
        x = 2.0 * x * (rng.random(x.shape) < 0.5)
    logits = model.forward(x)
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(y)), y].mean()


def evaluate(model, batches):
    mean = 0.0
    for i, (x, y) in enumerate(batches):
        mean *= i
        mean += batch_loss(model, x, y)
        mean /= i + 1
    return mean
