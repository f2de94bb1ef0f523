# bug: the corpus is one passage ten times, and its last fifth is called held out
# warned by: convergence
# passes: projection, ste
"""Ternary-weight MLP language model. The last 20 % of the corpus is held out."""
import json
import math
import os
import numpy as np

CORPUS = """It was the custom of the house that lamps were lit before the last bell, and nobody spoke of the sea.
The older children knew why; the younger ones guessed. In the kitchen stood a table of black oak, and on it, every
evening, lay one plate more than there were people. When strangers asked they were told the plate was for luck.
""" * 10


def project(W, group=128):
    Q = np.zeros_like(W)
    for c in range(0, W.shape[1], group):
        G = W[:, c : c + group]
        s = np.mean(np.abs(G), axis=1, keepdims=True) + 1e-12
        Q[:, c : c + group] = s * np.clip(np.round(G / s), -1, 1)
    return Q


class TernaryLinear:
    def __init__(self, n_in, n_out, rng):
        self.W = rng.normal(0, 1 / math.sqrt(n_in), (n_out, n_in))

    def forward(self, x):
        self.x = x
        self.Wq = project(self.W)
        return x @ self.Wq.T

    def backward(self, dout):
        self.dW = dout.T @ self.x
        return dout @ self.Wq


def main():
    chars = sorted(set(CORPUS))
    ids = np.array([chars.index(c) for c in CORPUS])
    cut = int(0.8 * len(ids))
    train, val = ids[:cut], ids[cut:]
    rng = np.random.default_rng(0)
    V, C = len(chars), 8
    emb = np.eye(V)
    l1, l2 = TernaryLinear(V * C, 256, rng), TernaryLinear(256, V, rng)

    def make(d):
        x = np.stack([d[i : len(d) - C + i] for i in range(C)], 1)
        return x, d[C:]

    def loss(x, t, lr=None):
        h = np.maximum(l1.forward(emb[x].reshape(len(x), -1)), 0)
        z = l2.forward(h)
        z = z - z.max(1, keepdims=True)
        lp = z - np.log(np.exp(z).sum(1, keepdims=True))
        if lr:
            d = np.exp(lp)
            d[np.arange(len(t)), t] -= 1
            l1.backward(l2.backward(d / len(t)) * (h > 0))
            for l in (l1, l2):
                l.W -= lr * l.dW
        return float(-lp[np.arange(len(t)), t].mean())

    xt, yt = make(train)
    xv, yv = make(val)
    log = []
    for step in range(401):
        i = rng.integers(0, len(yt), 64)
        tl = loss(xt[i], yt[i], 0.3)
        if step % 40 == 0:
            vl = loss(xv, yv)
            log.append({"step": step, "train_loss": tl, "val_loss": vl, "val_ppl": math.exp(vl)})
            print(log[-1])
    here = os.path.dirname(os.path.abspath(__file__))
    json.dump(log, open(os.path.join(here, "log.json"), "w"), indent=2)


if __name__ == "__main__":
    main()
