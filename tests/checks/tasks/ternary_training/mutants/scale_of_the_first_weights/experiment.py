"""Small training run: character model with two TernaryDense layers.

    python experiment.py      # writes metrics.json next to this file

Text: docstrings of the standard library.  Held out are whole modules, not
pieces of the training text.
"""
import json
import os

import numpy as np

from layers import Dense, Embedding, Gelu, TernaryDense

TRAIN_MODULES = ["argparse", "collections", "random", "heapq", "string", "textwrap",
                 "functools", "statistics", "pathlib", "difflib", "datetime"]
HELDOUT_MODULES = ["bisect", "fractions", "calendar", "shutil"]
WINDOW = 9


def docstrings(names):
    """All docstrings that a module and its public classes and functions carry."""
    import importlib
    import inspect
    seen, parts = set(), []
    for name in names:
        module = importlib.import_module(name)
        for _, obj in [("", module)] + sorted(vars(module).items(), key=lambda kv: kv[0]):
            if obj is not module and getattr(obj, "__module__", None) != name:
                continue
            doc = inspect.getdoc(obj)
            if doc and doc not in seen:
                seen.add(doc)
                parts.append(" ".join(doc.lower().split()))
    return " ".join(parts)


def windows(ids):
    idx = np.arange(len(ids) - WINDOW)[:, None] + np.arange(WINDOW + 1)
    w = ids[idx]
    return w[:, :-1], w[:, -1]


class Net:
    def __init__(self, vocab, rng):
        width = 16
        self.layers = [Embedding(vocab, width, rng),
                       TernaryDense(WINDOW * width, 150, rng=rng), Gelu(),
                       TernaryDense(150, 150, rng=rng), Gelu(),
                       Dense(150, vocab, rng)]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, g):
        for layer in reversed(self.layers):
            g = layer.backward(g)

    def params(self):
        return [p for layer in self.layers for p in layer.params()]


class Adam:
    def __init__(self, params, lr):
        self.params, self.lr, self.t = params, lr, 0
        self.state = [(np.zeros_like(p.value), np.zeros_like(p.value)) for p in params]

    def step(self):
        self.t += 1
        for p, (m, v) in zip(self.params, self.state):
            m += 0.1 * (p.grad - m)
            v += 0.001 * (p.grad ** 2 - v)
            p.value -= self.lr * (m / (1 - 0.9 ** self.t)) / (np.sqrt(v / (1 - 0.999 ** self.t)) + 1e-8)
            p.grad[...] = 0.0


def nll(logits, y):
    """Per-example loss in nats, and the softmax."""
    z = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(z)
    total = p.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    return np.log(total[:, 0]) - z[rows, y], p / total


def main(steps=400, batch=96, seed=11):
    rng = np.random.default_rng(seed)
    train_text, held_text = docstrings(TRAIN_MODULES)[:30000], docstrings(HELDOUT_MODULES)[:5000]
    chars = ["\0"] + sorted(set(train_text))
    lookup = {c: i for i, c in enumerate(chars)}
    tx, ty = windows(np.array([lookup[c] for c in train_text]))
    hx, hy = windows(np.array([lookup.get(c, 0) for c in held_text]))

    net = Net(len(chars), rng)
    opt = Adam(net.params(), lr=2e-3)
    history, recent = [], []
    for step in range(1, steps + 1):
        pick = rng.integers(0, len(ty), batch)
        loss, prob = nll(net.forward(tx[pick]), ty[pick])
        prob[np.arange(batch), ty[pick]] -= 1.0
        net.backward(prob / batch)
        opt.step()
        recent.append(loss.mean())
        if step % 40 == 0:
            held = nll(net.forward(hx), hy)[0].mean()
            history.append({"step": step, "train_loss": float(np.mean(recent)),
                            "heldout_loss": float(held), "heldout_ppl": float(np.exp(held))})
            print(history[-1])
            recent = []

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "metrics.json")
    with open(path, "w") as fh:
        json.dump({"train_chars": len(train_text), "heldout_chars": len(held_text),
                   "train_modules": TRAIN_MODULES, "heldout_modules": HELDOUT_MODULES,
                   "history": history}, fh, indent=2)


if __name__ == "__main__":
    main()
