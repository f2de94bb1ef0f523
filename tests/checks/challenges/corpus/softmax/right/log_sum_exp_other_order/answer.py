import numpy as np


def stable_softmax(temp, logits):
    z = logits / temp
    m = np.maximum(z.max(-1, keepdims=True), np.finfo(z.dtype).min)
    with np.errstate(divide="ignore", invalid="ignore"):
        lse = m + np.log(np.exp(z - m).sum(-1, keepdims=True))
        out = np.exp(z - lse)
    out[np.isnan(out)] = 0.0
    return out
