"""Trains a context MLP with ternary layers on text; writes train.log, one line per evaluation."""
import math
import os
import numpy as np
from quant import ternary_linear_backward, ternary_linear_forward

HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN_FILE = os.path.join(HERE, "data", "train.txt")
VALID_FILE = os.path.join(HERE, "data", "valid.txt")
CTX, WIDTH, HIDDEN = 6, 24, 144


def load():
    train, valid = open(TRAIN_FILE).read(), open(VALID_FILE).read()
    vocab = {c: i for i, c in enumerate(sorted(set(train) | set(valid)))}
    enc = lambda s: np.array([vocab[c] for c in s])
    return enc(train), enc(valid), len(vocab)


def batches(ids):
    n = len(ids) - CTX
    x = np.stack([ids[i : i + n] for i in range(CTX)], 1)
    return x, ids[CTX:]


def init(vocab, seed=0):
    g = np.random.default_rng(seed)
    return {
        "emb": g.normal(0, 0.3, (vocab, WIDTH)),
        "w1": g.normal(0, (CTX * WIDTH) ** -0.5, (HIDDEN, CTX * WIDTH)),
        "b1": np.zeros(HIDDEN),
        "w2": g.normal(0, HIDDEN**-0.5, (vocab, HIDDEN)),
        "b2": np.zeros(vocab),
    }


def loss_and_grads(p, x, t):
    e = p["emb"][x].reshape(len(x), -1)
    a, c1 = ternary_linear_forward(e, p["w1"], p["b1"])
    h = np.maximum(a, 0)
    z, c2 = ternary_linear_forward(h, p["w2"], p["b2"])
    z -= z.max(1, keepdims=True)
    lp = z - np.log(np.exp(z).sum(1, keepdims=True))
    rows = np.arange(len(t))
    loss = -lp[rows, t].mean()
    d = np.exp(lp)
    d[rows, t] -= 1
    d /= len(t)
    dh, gw2, gb2 = ternary_linear_backward(d, c2)
    de, gw1, gb1 = ternary_linear_backward(dh * (a > 0), c1)
    ge = np.zeros_like(p["emb"])
    np.add.at(ge, x, de.reshape(len(x), CTX, WIDTH))
    return float(loss), {"emb": ge, "w1": gw1, "b1": gb1, "w2": gw2, "b2": gb2}


def main(steps=500, lr=0.15, momentum=0.9):
    train, valid, vocab = load()
    x, t = batches(train)
    vx, vt = batches(valid)
    p, vel = init(vocab), {}
    g = np.random.default_rng(1)
    with open(os.path.join(HERE, "train.log"), "w") as log:
        for step in range(steps + 1):
            pick = g.integers(0, len(t), 64)
            loss, grads = loss_and_grads(p, x[pick], t[pick])
            if step % 50 == 0:
                v, _ = loss_and_grads(p, vx, vt)
                line = f"step={step} loss={loss:.4f} val_loss={v:.4f} val_ppl={math.exp(v):.3f}"
                print(line)
                log.write(line + "\n")
            for k, gr in grads.items():
                vel[k] = momentum * vel.get(k, 0) - lr * gr
                p[k] = p[k] + vel[k]


if __name__ == "__main__":
    main()
