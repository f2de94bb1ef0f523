"""Character-level language model with BitLinear layers on a counting text.

    python train_charlm.py      trains, prints, writes log.json

The text is the numbers 0..999 in words; every eighth number, by a fixed shuffle, is held out.
"""
import json
import pathlib

import numpy as np

from bitlinear import BitLinear

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen").split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
CHARS = "\n abcdefghijklmnopqrstuvwxyz"
CONTEXT = 7


def in_words(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (" " + ONES[n % 10] if n % 10 else "")
    return ONES[n // 100] + " hundred" + (" and " + in_words(n % 100) if n % 100 else "")


def make_split(seed):
    order = np.random.default_rng(seed).permutation(1000)
    held = set(order[::8].tolist())
    return [in_words(i) for i in range(1000) if i not in held], [in_words(i) for i in sorted(held)]


def encode(words):
    xs, ys = [], []
    for w in words:
        padded = "\n" * CONTEXT + w + "\n"
        for t in range(CONTEXT, len(padded)):
            xs.append([CHARS.index(c) for c in padded[t - CONTEXT:t]])
            ys.append(CHARS.index(padded[t]))
    return np.array(xs), np.array(ys)


class CharLM:
    def __init__(self, rng, hidden=192):
        self.l1 = BitLinear(CONTEXT * len(CHARS), hidden, rng)
        self.l2 = BitLinear(hidden, len(CHARS), rng)
        self.moments = [[np.zeros_like(l.weight), np.zeros_like(l.weight)] for l in (self.l1, self.l2)]

    def loss(self, ids, targets, backward=False):
        n = len(ids)
        x = np.eye(len(CHARS), dtype=np.float32)[ids].reshape(n, -1)
        h = self.l1.forward(x)
        z = self.l2.forward(np.maximum(h, 0))
        z = z - z.max(axis=1, keepdims=True)
        logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        if backward:
            g = np.exp(logp)
            g[np.arange(n), targets] -= 1
            self.l1.backward(self.l2.backward(g / n) * (h > 0))
        return float(-logp[np.arange(n), targets].mean())

    def step(self, lr, t):
        for layer, mom in zip((self.l1, self.l2), self.moments):
            mom[0] = 0.9 * mom[0] + 0.1 * layer.grad
            mom[1] = 0.98 * mom[1] + 0.02 * layer.grad ** 2
            layer.weight -= lr * (mom[0] / (1 - 0.9 ** t)) / (np.sqrt(mom[1] / (1 - 0.98 ** t)) + 1e-8)


def train(steps=240, seed=1):
    rng = np.random.default_rng(seed)
    train_words, held_words = make_split(seed)
    (x, y), (xv, yv) = encode(train_words), encode(held_words)
    model, rows = CharLM(rng), []
    for t in range(1, steps + 1):
        pick = rng.integers(0, len(x), 64)
        loss = model.loss(x[pick], y[pick], backward=True)
        model.step(3e-3 * (1 - (t - 1) / steps), t)
        if t == 1 or t % 20 == 0:
            val = model.loss(xv, yv)
            rows.append({"step": t, "train_loss": loss, "val_loss": val, "val_perplexity": float(np.exp(val))})
    return {"n_train": len(train_words), "n_heldout": len(held_words),
            "overlap": len(set(train_words) & set(held_words)), "curve": rows}
