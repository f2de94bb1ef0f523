# bug: the gradient of the clip is zero at its ends, where every level that is not 0 lies
# caught by: ste
# passes: projection
"""Fake-quantised ternary weights as a small chain of ops, each with its own backward."""

import numpy as np

GROUP_SIZE = 128


class Round:
    def forward(self, x):
        return np.rint(x)

    def backward(self, g):
        return g  # straight-through


class Clamp:
    def __init__(self, lo, hi, straight_through=True):
        self.lo, self.hi = lo, hi

    def forward(self, x):
        self.x = x
        return np.clip(x, self.lo, self.hi)

    def backward(self, g):
        return np.where((self.x > self.lo) & (self.x < self.hi), g, 0.0)


class TernaryQuantizer:
    def __init__(self, group_size=GROUP_SIZE):
        self.group_size = group_size
        self.round, self.clamp = Round(), Clamp(-1.0, 1.0)

    def scales(self, w):
        edges = np.arange(0, w.shape[-1], self.group_size)
        sums = np.add.reduceat(np.abs(w), edges, axis=-1)
        counts = np.diff(np.append(edges, w.shape[-1]))
        return np.repeat(sums / counts, counts, axis=-1)

    def forward(self, w):
        self.s = self.scales(w)
        safe = np.where(self.s > 0, self.s, 1.0)
        return self.s * self.clamp.forward(self.round.forward(w / safe))

    def backward(self, g):
        # the scale is a constant: times s on the way out, over s on the way in
        return self.round.backward(self.clamp.backward(g))


class TernaryLinear:
    def __init__(self, in_dim, out_dim, seed=0, group_size=GROUP_SIZE):
        self.weight = np.random.default_rng(seed).normal(size=(out_dim, in_dim)) * in_dim**-0.5
        self.quantizer = TernaryQuantizer(group_size)
        self.weight_grad = np.zeros_like(self.weight)

    def forward(self, x):
        self.x, self.wq = x, self.quantizer.forward(self.weight)
        return x @ self.wq.T

    def backward(self, grad_output):
        g2 = grad_output.reshape(-1, grad_output.shape[-1])
        x2 = self.x.reshape(-1, self.x.shape[-1])
        self.weight_grad = self.quantizer.backward(g2.T @ x2)
        return grad_output @ self.wq
