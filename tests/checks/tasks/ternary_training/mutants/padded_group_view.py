# bug: groups are padded with zeros to a view of whole ones, and s is the mean of that view
# caught by: projection
# passes: ste
"""Ternary network: padded group view, STE, training on a synthetic regression, log as CSV."""
import csv
import os
import numpy as np

GROUP = 128


class TernaryQuantizer:
    def __init__(self, group=GROUP):
        self.group = group

    def _grouped(self, w):
        """(out, in) -> (out, G, group), zero padded so that every group is full."""
        out, n = w.shape
        pad = (-n) % self.group
        return np.pad(w, ((0, 0), (0, pad))).reshape(out, -1, self.group)

    def __call__(self, w):
        g = self._grouped(w)
        s = np.abs(g).mean(axis=-1, keepdims=True)
        q = np.sign(g) * (np.abs(g) > 0.5 * s)
        return (q * s).reshape(w.shape[0], -1)[:, : w.shape[1]]


class TernaryLinear:
    def __init__(self, n_in, n_out, seed=0):
        self.w = np.random.default_rng(seed).normal(0, n_in**-0.5, (n_out, n_in))
        self.quant = TernaryQuantizer()

    def forward(self, x):
        self.x, self.wq = x, self.quant(self.w)
        return x @ self.wq.T

    def backward(self, dy):
        self.dw = dy.T @ self.x
        return dy @ self.wq


def main(steps=400):
    here = os.path.dirname(os.path.abspath(__file__))
    g = np.random.default_rng(0)
    tx, vx = g.integers(0, 16, (2000, 2)), g.integers(0, 16, (300, 2))
    emb = g.normal(size=(16, 128))
    rule = g.normal(size=(16, 16))
    ty, vy = rule[tx[:, 0], :].argmax(1), rule[vx[:, 0], :].argmax(1)
    l1, l2 = TernaryLinear(256, 256, 1), TernaryLinear(256, 16, 2)

    def run(x, y, train):
        e = emb[x].reshape(len(x), -1)
        a = l1.forward(e)
        z = l2.forward(np.maximum(a, 0))
        z -= z.max(1, keepdims=True)
        lp = z - np.log(np.exp(z).sum(1, keepdims=True))
        if train:
            d = np.exp(lp)
            d[np.arange(len(y)), y] -= 1
            da = l2.backward(d / len(y)) * (a > 0)
            l1.backward(da)
            for l in (l1, l2):
                l.w -= 0.05 * l.dw
        return -lp[np.arange(len(y)), y].mean()

    with open(os.path.join(here, "loss_log.csv"), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["step", "train_loss", "heldout_loss", "heldout_perplexity"])
        for s in range(steps + 1):
            i = g.integers(0, len(tx), 64)
            loss = run(tx[i], ty[i], True)
            if s % 25 == 0:
                v = run(vx, vy, False)
                out.writerow([s, f"{loss:.5f}", f"{v:.5f}", f"{np.exp(v):.4f}"])


if __name__ == "__main__":
    main()
