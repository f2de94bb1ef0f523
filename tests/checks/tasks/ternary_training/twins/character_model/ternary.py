# style: a whole training program of one file: layers, Adam, corpus and log; gradients as attributes
"""
Ternary weights with a straight-through estimator, from scratch in NumPy
========================================================================

Every linear layer keeps *latent* float weights W (out, in).  The forward pass uses their projection

    groups of 128 along the input axis,  s = mean |W_g|,  W_q = s * clip(round(W_g / s), -1, 1)

and the backward pass lets the gradient through to W unchanged (the scale counts as a constant).

Run:  python ternary.py      trains a character-level model and writes training_log.json
"""
from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np

GROUP_SIZE = 128
HERE = Path(__file__).resolve().parent


def ternary_project(w: np.ndarray, group_size: int = GROUP_SIZE) -> np.ndarray:
    """Project (out, in) weights to s * {-1, 0, +1}, with one s per row and group of the input axis."""
    out = np.empty_like(w)
    for start in range(0, w.shape[1], group_size):
        block = w[:, start : start + group_size]
        scale = np.abs(block).mean(axis=1, keepdims=True)
        q = np.clip(np.rint(block / np.maximum(scale, 1e-8)), -1, 1)
        out[:, start : start + group_size] = q * scale
    return out


class TernaryLinear:
    """y = x W_q^T + b, where W_q is the projection of the latent weights."""

    def __init__(self, in_features: int, out_features: int, rng: np.random.Generator) -> None:
        self.weight = rng.normal(0, 1 / math.sqrt(in_features), (out_features, in_features))
        self.bias = np.zeros(out_features)
        self.grad_weight = np.zeros_like(self.weight)
        self.grad_bias = np.zeros_like(self.bias)

    def forward(self, x: np.ndarray) -> np.ndarray:
        self._x = x
        self._wq = ternary_project(self.weight)
        return x @ self._wq.T + self.bias

    def backward(self, dy: np.ndarray) -> np.ndarray:
        # straight through: dL/dW := dL/dW_q
        self.grad_weight = dy.T @ self._x
        self.grad_bias = dy.sum(0)
        return dy @ self._wq


class CharModel:
    """Embedding of the last CONTEXT characters -> ternary hidden layer -> ternary output layer."""

    CONTEXT = 8

    def __init__(self, vocab: int, width: int = 16, hidden: int = 160, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.vocab = vocab
        self.embed = rng.normal(0, 0.5, (vocab, width))
        self.l1 = TernaryLinear(self.CONTEXT * width, hidden, rng)
        self.l2 = TernaryLinear(hidden, vocab, rng)

    def forward(self, ctx: np.ndarray) -> np.ndarray:
        self._ctx = ctx
        self._h = np.tanh(self.l1.forward(self.embed[ctx].reshape(len(ctx), -1)))
        return self.l2.forward(self._h)

    def loss(self, ctx, target, train=False):
        z = self.forward(ctx)
        z = z - z.max(1, keepdims=True)
        logp = z - np.log(np.exp(z).sum(1, keepdims=True))
        value = -logp[np.arange(len(target)), target].mean()
        if train:
            dz = np.exp(logp)
            dz[np.arange(len(target)), target] -= 1
            dz /= len(target)
            dh = self.l2.backward(dz) * (1 - self._h**2)
            dx = self.l1.backward(dh).reshape(len(ctx), self.CONTEXT, -1)
            self.grad_embed = np.zeros_like(self.embed)
            np.add.at(self.grad_embed, self._ctx, dx)
        return float(value)

    def parameters(self):
        yield self, "embed", "grad_embed"
        for layer in (self.l1, self.l2):
            yield layer, "weight", "grad_weight"
            yield layer, "bias", "grad_bias"


class Adam:
    def __init__(self, model, lr=3e-3, b1=0.9, b2=0.99):
        self.model, self.lr, self.b1, self.b2, self.t = model, lr, b1, b2, 0
        self.state = {}

    def step(self):
        self.t += 1
        for i, (owner, name, gname) in enumerate(self.model.parameters()):
            g = getattr(owner, gname)
            m, v = self.state.get(i, (np.zeros_like(g), np.zeros_like(g)))
            m = self.b1 * m + (1 - self.b1) * g
            v = self.b2 * v + (1 - self.b2) * g * g
            self.state[i] = (m, v)
            upd = self.lr * (m / (1 - self.b1**self.t)) / (np.sqrt(v / (1 - self.b2**self.t)) + 1e-8)
            setattr(owner, name, getattr(owner, name) - upd)


def make_corpus(seed: int, sentences: int) -> str:
    rng = np.random.default_rng(seed)
    subject = ["the cat", "a dog", "my friend", "the old king", "a small bird", "the river"]
    verb = ["sees", "follows", "likes", "finds", "leaves", "remembers"]
    obj = ["the moon", "a stone", "the garden", "an apple", "the road", "a song"]
    when = ["at dawn", "in winter", "every day", "by night", "after rain"]
    pick = lambda words: words[rng.integers(len(words))]
    return " ".join(f"{pick(subject)} {pick(verb)} {pick(obj)} {pick(when)}." for _ in range(sentences))


def windows(ids: np.ndarray, context: int):
    idx = np.arange(context)[None, :] + np.arange(len(ids) - context)[:, None]
    return ids[idx], ids[context:]


def train(steps: int = 600, batch: int = 64, seed: int = 0) -> dict:
    train_text, held_text = make_corpus(1, 1500), make_corpus(2, 200)
    chars = sorted(set(train_text))
    index = {c: i for i, c in enumerate(chars)}
    encode = lambda s: np.array([index[c] for c in s])
    model = CharModel(len(chars), seed=seed)
    ctx, tgt = windows(encode(train_text), model.CONTEXT)
    hctx, htgt = windows(encode(held_text), model.CONTEXT)
    opt, rng = Adam(model), np.random.default_rng(seed)
    log = {"config": {"steps": steps, "batch": batch, "group_size": GROUP_SIZE, "vocab": len(chars)}, "history": []}
    began = time.time()
    for step in range(steps + 1):
        pick = rng.integers(0, len(ctx), batch)
        loss = model.loss(ctx[pick], tgt[pick], train=True)
        if step % 50 == 0:
            val = model.loss(hctx, htgt)
            log["history"].append(
                {"step": step, "train_loss": loss, "val_loss": val, "val_perplexity": math.exp(val)}
            )
            print(f"step {step:4d}  train {loss:.4f}  val {val:.4f}  ppl {math.exp(val):.2f}")
            model.loss(ctx[pick], tgt[pick], train=True)
        opt.step()
    log["seconds"] = time.time() - began
    log["final_val_perplexity"] = log["history"][-1]["val_perplexity"]
    return log


def verify_projection(w: np.ndarray, tol: float = 1e-5) -> bool:
    q = ternary_project(w)
    for start in range(0, w.shape[1], GROUP_SIZE):
        s = np.abs(w[:, start : start + GROUP_SIZE]).mean(1, keepdims=True)
        r = q[:, start : start + GROUP_SIZE] / s
        if np.abs(r - np.rint(r)).max() > tol or np.abs(r).max() > 1 + tol:
            return False
    return True


if __name__ == "__main__":
    assert verify_projection(np.random.default_rng(0).normal(size=(16, 300)))
    result = train()
    (HERE / "training_log.json").write_text(json.dumps(result, indent=1))
