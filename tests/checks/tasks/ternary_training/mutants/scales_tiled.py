# bug: backward divides scales out that are tiled over the groups instead of repeated
# caught by: ste
# passes: projection
"""Grouped ternary matmul: y[b, o] = sum_g s[o, g] * (x_g . t[o, g]).

The layer never builds the dense projected weight on its hot path; it contracts
each group with its {-1, 0, 1} pattern and applies one scale per (output, group).
The input is zero-padded up to a whole number of groups; statistics of the last
group count real entries only.
"""
import json
from pathlib import Path

import numpy as np

GROUP = 128
TINY = 1e-12


class TernaryDense:
    """Latent weight ``W`` (out, in) float64, bias ``b`` (out,)."""

    def __init__(self, W, b=None, group_size=GROUP):
        self.W = np.array(W, dtype=np.float64)
        self.b = np.zeros(len(self.W)) if b is None else np.array(b, dtype=np.float64)
        self.group_size = int(group_size)

    @classmethod
    def create(cls, fan_in, fan_out, rng, group_size=GROUP):
        return cls(rng.normal(0, fan_in ** -0.5, (fan_out, fan_in)), None, group_size)

    def _grouped(self, a):
        """(..., in) -> (..., G, group), zero-padded."""
        n, g = self.W.shape[1], self.group_size
        pad = -n % g
        a = np.concatenate([a, np.zeros(a.shape[:-1] + (pad,))], axis=-1) if pad else a
        return a.reshape(a.shape[:-1] + (-1, g))

    def quantize(self):
        """Return (T, s): T (out, G, group) in {-1, 0, 1}, s (out, G) = mean |W|."""
        grouped = self._grouped(self.W)
        n, g = self.W.shape[1], self.group_size
        count = np.minimum(g, n - g * np.arange(grouped.shape[1]))
        s = np.maximum(np.abs(grouped).sum(axis=-1) / count, TINY)
        return np.clip(np.rint(grouped / s[..., None]), -1, 1), s

    def projected_weight(self):
        """Dense s * T, (out, in): for export and inspection."""
        T, s = self.quantize()
        return (T * s[..., None]).reshape(len(self.W), -1)[:, : self.W.shape[1]]

    def forward(self, x):
        """x (batch, in) -> y (batch, out), cache."""
        T, s = self.quantize()
        xg = self._grouped(np.asarray(x, dtype=np.float64))
        partial = np.einsum("bgk,ogk->bog", xg, T, optimize=True)
        return (partial * s).sum(axis=-1) + self.b, (xg, T, s)

    def backward(self, dy, cache):
        """Return dx, dW, db.

        With T = round(W / s) the estimator takes dT/dW = 1 / s, s held constant;
        the scale that the forward put on the pattern is divided out again, and
        the latent weight receives the gradient of the effective weight.
        """
        xg, T, s = cache
        out, n = self.W.shape
        dy = np.asarray(dy, dtype=np.float64)
        ds = dy[:, :, None] * s                                     # (batch, out, G)
        dx = np.einsum("bog,ogk->bgk", ds, T, optimize=True).reshape(len(dy), -1)[:, :n]
        dT = np.einsum("bog,bgk->ogk", ds, xg, optimize=True).reshape(out, -1)[:, :n]
        dW = dT / np.tile(s, self.group_size)[:, :n]
        return dx, dW, dy.sum(axis=0)


def softmax_xent(logits, target):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    d = np.exp(logp)
    d[np.arange(len(target)), target] -= 1
    return -logp[np.arange(len(target)), target].mean(), d / len(target)


NAMES = "ada ben cleo dan eve finn gus hana ivo june".split()
VERBS = "likes sees meets calls helps trusts".split()
LINKS = "and then|but never|while later|because often".split("|")


def corpus(rng, count):
    """Distinct two-clause sentences."""
    lines = set()
    while len(lines) < count:
        a, b, c = rng.choice(NAMES, 3, replace=False)
        v, w = rng.choice(VERBS, 2)
        lines.add(f"{a} {v} {b} {rng.choice(LINKS)} {w} {c}\n")
    lines = sorted(lines)
    return [lines[i] for i in rng.permutation(count)]


def contexts(lines, chars, k):
    table = {c: i for i, c in enumerate(chars)}
    ids = np.array([table[c] for c in "".join(lines)])
    x = np.stack([ids[i:len(ids) - k + i] for i in range(k)], axis=1)
    return np.eye(len(chars))[x].reshape(len(x), -1), ids[k:]


def train(steps=240, k=7, width=64, batch=96, lr=0.01, seed=4, log_path=None):
    """Train a two-layer ternary character model; returns the log (and writes it)."""
    rng = np.random.default_rng(seed)
    lines = corpus(rng, 420)
    fit, held = lines[:360], lines[360:]
    chars = sorted(set("".join(lines)))
    (x, y), (vx, vy) = contexts(fit, chars, k), contexts(held, chars, k)
    l1 = TernaryDense.create(x.shape[1], width, rng)
    l2 = TernaryDense.create(width, len(chars), rng)
    tensors = [l1.W, l1.b, l2.W, l2.b]
    m, v = [np.zeros_like(t) for t in tensors], [np.zeros_like(t) for t in tensors]
    log = []
    for step in range(1, steps + 1):
        rows = rng.integers(len(x), size=batch)
        h, c1 = l1.forward(x[rows])
        logits, c2 = l2.forward(np.maximum(h, 0))
        loss, d = softmax_xent(logits, y[rows])
        da, dW2, db2 = l2.backward(d, c2)
        _, dW1, db1 = l1.backward(da * (h > 0), c1)
        for i, g in enumerate((dW1, db1, dW2, db2)):
            m[i] += 0.1 * (g - m[i])
            v[i] += 0.01 * (g * g - v[i])
            tensors[i] -= lr * (m[i] / (1 - 0.9 ** step)) / (np.sqrt(v[i] / (1 - 0.99 ** step)) + 1e-8)
        if step == 1 or step % 40 == 0:
            vl = softmax_xent(l2.forward(np.maximum(l1.forward(vx)[0], 0))[0], vy)[0]
            log.append({"step": step, "loss": float(loss), "heldout_loss": float(vl),
                        "heldout_ppl": float(np.exp(vl))})
    result = {"fit_lines": len(fit), "heldout_lines": len(held),
              "shared_lines": len(set(fit) & set(held)), "entries": log}
    if log_path:
        Path(log_path).write_text(json.dumps(result, indent=1))
    return result
