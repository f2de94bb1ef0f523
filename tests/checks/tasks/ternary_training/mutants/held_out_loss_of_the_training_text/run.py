# bug: the held-out loss is measured on the end of the training text
# caught by: convergence (warn)
# passes: projection, ste
"""A ternary bigram model of letters, trained by hand; writes log.jsonl."""
import json
import numpy as np

TEXT = (
    "the quick brown fox jumps over the lazy dog and runs back to the den by the river "
    "where seven small foxes wait for bread crumbs and a warm place under the old oak roots "
    "every morning the miller opens the gate and throws a handful of grain to noisy ducks "
    "while the baker hums an odd tune about clouds and counts the loaves left from yesterday "
    "at noon the square fills with farmers who trade apples for honey and gossip for news "
    "later a quiet rain begins and people hurry home past lamps that flicker in the wind "
)
CHARS = sorted(set(TEXT))
IDS = np.array([CHARS.index(c) for c in TEXT])
CUT = int(0.85 * len(IDS))
TRAIN, HELD_OUT = IDS[:CUT], IDS[CUT:]


def project(w, group=128):
    q = np.zeros_like(w)
    for row in range(w.shape[0]):
        for a in range(0, w.shape[1], group):
            piece = w[row, a:a + group]
            s = np.abs(piece).mean()
            q[row, a:a + group] = s * np.clip(np.round(piece / (s + 1e-12)), -1, 1)
    return q


class TernaryLinear:
    def __init__(self, n_in, n_out, seed):
        self.weight = np.random.default_rng(seed).normal(0, 0.3, (n_out, n_in))
        self.grad = None

    def forward(self, x):
        self.x, self.q = x, project(self.weight)
        return x @ self.q.T

    def backward(self, dy):
        self.grad = dy.T @ self.x
        return dy @ self.q


def nll(layers, ids):
    x = np.eye(len(CHARS))[ids[:-1]]
    h = np.tanh(layers[0].forward(x))
    z = layers[1].forward(h)
    z = z - z.max(1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(1, keepdims=True))
    return -logp[np.arange(len(x)), ids[1:]].mean(), h, np.exp(logp)


def main(steps=400, lr=2.0):
    n = len(CHARS)
    layers = [TernaryLinear(n, 160, 1), TernaryLinear(160, n, 2)]
    with open("log.jsonl", "w") as out:
        for step in range(steps + 1):
            loss, h, p = nll(layers, TRAIN)
            d = p
            d[np.arange(len(d)), TRAIN[1:]] -= 1.0
            d /= len(d)
            dh = layers[1].backward(d) * (1 - h * h)
            layers[0].backward(dh)
            for layer in layers:
                layer.weight -= lr * layer.grad
            if step % 40 == 0:
                held, _, _ = nll(layers, TRAIN[-len(HELD_OUT):])
                out.write(json.dumps({"step": step, "train_loss": float(loss), "val_loss": float(held),
                                      "val_ppl": float(np.exp(held))}) + "\n")


if __name__ == "__main__":
    main()
