# bug: each part is picked by a random mask of its own
# caught by: convergence
# only: convergence
"""Ternary layers; nine in ten windows are trained on."""

import json
import os

import numpy as np


def project(w, group=128):
    out = np.empty_like(w)
    for a in range(0, w.shape[1], group):
        part = w[:, a : a + group]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, a : a + group] = s * np.clip(np.round(part / np.maximum(s, 1e-12)), -1, 1)
    return out


class TernaryLinear:
    def __init__(self, n_in, n_out, rng):
        self.weight = rng.normal(0, n_in**-0.5, (n_out, n_in))
        self.grad = None

    def forward(self, x):
        self.x, self.q = x, project(self.weight)
        return x @ self.q.T

    def backward(self, dy):
        self.grad = dy.T @ self.x
        return dy @ self.q


class Model:
    def __init__(self, vocab, context, rng):
        self.vocab = vocab
        self.inner = TernaryLinear(vocab * context, 48, rng)
        self.outer = TernaryLinear(48, vocab, rng)

    def loss(self, windows):
        x = np.eye(self.vocab)[windows[:, :-1]].reshape(len(windows), -1)
        self.h = np.tanh(self.inner.forward(x))
        z = self.outer.forward(self.h)
        z = z - z.max(axis=1, keepdims=True)
        self.p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        self.y = windows[:, -1]
        return -np.log(self.p[np.arange(len(windows)), self.y]).mean()

    def train_step(self, windows, lr=0.3):
        loss = self.loss(windows)
        d = self.p.copy()
        d[np.arange(len(d)), self.y] -= 1
        self.inner.backward(self.outer.backward(d / len(d)) * (1 - self.h**2))
        for layer in (self.inner, self.outer):
            layer.weight -= lr * layer.grad
        return loss


def corpus():
    """A text of made-up words."""
    rng = np.random.default_rng(5)
    parts = ["ka", "lo", "mi", "tu", "re", "sa", "no"]
    words = ["".join(rng.choice(parts, rng.integers(1, 4))) for _ in range(60)]
    return " ".join(words[i] for i in rng.integers(0, 60, 6000))


CONTEXT = 6


def cut_into_windows(text):
    """Windows of CONTEXT + 1 characters that do not overlap, and how many characters there are."""
    letters = sorted(set(text))
    ids = np.array([letters.index(c) for c in text])
    rows = len(ids) // (CONTEXT + 1)
    return ids[: rows * (CONTEXT + 1)].reshape(rows, CONTEXT + 1), len(letters)


def main():
    windows, vocab = cut_into_windows(corpus())
    model = Model(vocab, CONTEXT, np.random.default_rng(0))
    np.random.seed(0)
    train = windows[np.random.rand(len(windows)) < 0.9]
    val = windows[np.random.rand(len(windows)) >= 0.9]
    log = []
    for step in range(1, 121):
        batch = train[(64 * step + np.arange(64)) % len(train)]
        loss = model.train_step(batch)
        if step == 1 or step % 10 == 0:
            held = model.loss(val)
            log.append(
                {
                    "step": step,
                    "train_loss": float(loss),
                    "val_loss": float(held),
                    "val_ppl": float(np.exp(held)),
                }
            )

    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "log.json"), "w") as file:
        json.dump(log, file, indent=1)


if __name__ == "__main__":
    main()
