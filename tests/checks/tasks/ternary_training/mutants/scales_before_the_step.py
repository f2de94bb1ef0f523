# bug: scales are taken before a step assigns the new weights
# caught by: projection
"""Ternary layers for NumPy: latent float weights, projected group-wise to s * {-1, 0, +1}, trained with an STE.

`TernaryDense` stores the latent matrix (out, in).  A group is `group_size` consecutive weights of one row; the last
group of a row is as short as it has to be.  The scale of a group is the mean of |W|; it only changes when the
weights do, so it is kept with the layer instead of being recomputed by every forward pass (evaluation runs many
forward passes between two updates).
"""
import numpy as np


class TernaryDense:
    def __init__(self, in_dim, out_dim, *, group_size=128, seed=0):
        self.group_size = group_size
        self.W = np.random.default_rng(seed).normal(size=(out_dim, in_dim)) / np.sqrt(in_dim)
        self.b = np.zeros(out_dim)
        self.dW = np.zeros_like(self.W)
        self.db = np.zeros_like(self.b)
        self._edges = np.arange(0, in_dim, group_size)
        self._sizes = np.diff(np.append(self._edges, in_dim))
        self._moments = [[np.zeros_like(p), np.zeros_like(p)] for p in (self.W, self.b)]
        self._t = 0
        self._x = self._Wq = None
        self._refresh_scale()

    # ---- projection ------------------------------------------------------------------------------------------
    def _refresh_scale(self):
        mean_abs = np.add.reduceat(np.abs(self.W), self._edges, axis=1) / self._sizes
        self.scale = np.repeat(mean_abs, self._sizes, axis=1)

    def ternary_codes(self):
        """{-1, 0, +1} for every latent weight."""
        safe = np.where(self.scale > 0, self.scale, 1.0)
        return np.clip(np.rint(self.W / safe), -1, 1)

    def ternary_weight(self):
        """The matrix that the layer multiplies with."""
        return self.scale * self.ternary_codes()

    # ---- forward / backward ----------------------------------------------------------------------------------
    def forward(self, x):
        self._x, self._Wq = x, self.ternary_weight()
        return x @ self._Wq.T + self.b

    def backward(self, dy):
        """Fill dW and db, return dx.  STE: dW is the gradient of the projected weight, unchanged."""
        x2, dy2 = self._x.reshape(-1, self.W.shape[1]), dy.reshape(-1, self.W.shape[0])
        self.dW = dy2.T @ x2
        self.db = dy2.sum(axis=0)
        return dy @ self._Wq

    # ---- update ----------------------------------------------------------------------------------------------
    def step(self, lr, beta1=0.9, beta2=0.99, eps=1e-8):
        """One Adam update of the latent parameters."""
        self._t += 1
        fix1, fix2 = 1 - beta1 ** self._t, 1 - beta2 ** self._t
        new = []
        for p, g, mv in zip((self.W, self.b), (self.dW, self.db), self._moments):
            mv[0] = beta1 * mv[0] + (1 - beta1) * g
            mv[1] = beta2 * mv[1] + (1 - beta2) * g * g
            new.append(p - lr * (mv[0] / fix1) / (np.sqrt(mv[1] / fix2) + eps))
        self._refresh_scale()
        self.W, self.b = new


class TernaryMLP:
    """Dense - ReLU - Dense with a softmax cross-entropy on top."""

    def __init__(self, in_dim, hidden, classes, seed=0):
        self.first = TernaryDense(in_dim, hidden, seed=seed)
        self.second = TernaryDense(hidden, classes, seed=seed + 1)

    def logits(self, x):
        self._h = np.maximum(self.first.forward(x), 0)
        return self.second.forward(self._h)

    def loss(self, x, y):
        z = self.logits(x)
        top = z.max(axis=1, keepdims=True)
        self._logp = z - top - np.log(np.exp(z - top).sum(axis=1, keepdims=True))
        return float(-self._logp[np.arange(len(y)), y].mean())

    def train_step(self, x, y, lr):
        loss = self.loss(x, y)
        dz = np.exp(self._logp)
        dz[np.arange(len(y)), y] -= 1
        dh = self.second.backward(dz / len(y))
        self.first.backward(dh * (self._h > 0))
        self.first.step(lr)
        self.second.step(lr)
        return loss
