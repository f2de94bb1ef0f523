# bug: scales are those of the weights that the layer was made with or loaded, and stay when an optimizer changes them
# caught by: projection
# passes: ste
"""Layers with hand-written gradients: TernaryDense, Dense, Embedding, Gelu."""
import numpy as np


class Param:
    """A value with its gradient; optimizers update ``value`` in place."""

    def __init__(self, value):
        self.value = np.asarray(value, dtype=np.float64)
        self.grad = np.zeros_like(self.value)


class TernaryDense:
    """Linear layer that computes with weights in s * {-1, 0, +1}.

    The latent float weight ``weight.value`` (out, in) is what the optimizer sees.
    Weights are grouped along the input axis, ``group`` at a time (the last group
    takes what is left), separately for every output unit:

        s = mean(|W_group|)
        W_q = s * clip(round(W / s), -1, 1)

    In the backward pass the rounding is skipped (straight-through) and s counts
    as a constant, so the latent weight receives the gradient of W_q as it is.
    """

    def __init__(self, in_features, out_features, group=128, bias=True, rng=None, weight=None):
        rng = rng or np.random.default_rng()
        self.in_features, self.out_features, self.group = in_features, out_features, group
        self.edges = list(range(0, in_features, group)) + [in_features]
        self.weight = Param(rng.normal(0, 1 / np.sqrt(in_features), (out_features, in_features)))
        self.bias = Param(np.zeros(out_features)) if bias else None
        self.scale = self._group_scale()
        if weight is not None:
            self.load_latent(weight)

    # -- projection ---------------------------------------------------------
    def _group_scale(self):
        """mean |W| of each group, spread over its columns: (out, in)."""
        w = np.abs(self.weight.value)
        return np.concatenate(
            [np.broadcast_to(w[:, a:b].mean(axis=1, keepdims=True), (len(w), b - a))
             for a, b in zip(self.edges, self.edges[1:])], axis=1)

    def load_latent(self, weight):
        """Replace the latent weights, e.g. by those of a pretrained layer."""
        weight = np.asarray(weight, dtype=np.float64)
        if weight.shape != self.weight.value.shape:
            raise ValueError(f"expected {self.weight.value.shape}, got {weight.shape}")
        self.weight.value[...] = weight
        self.scale = self._group_scale()

    def codes(self):
        """Current ternary codes, int8 (out, in)."""
        safe = np.where(self.scale > 0, self.scale, 1.0)
        return np.clip(np.round(self.weight.value / safe), -1, 1).astype(np.int8)

    def quantized_weight(self):
        return self.scale * self.codes()

    # -- forward / backward -------------------------------------------------
    def forward(self, x):
        self._x = x
        self._wq = self.quantized_weight()
        y = x @ self._wq.T
        return y if self.bias is None else y + self.bias.value

    def backward(self, dy):
        g = dy.reshape(-1, self.out_features)
        self.weight.grad += g.T @ self._x.reshape(-1, self.in_features)
        if self.bias is not None:
            self.bias.grad += g.sum(axis=0)
        return dy @ self._wq

    def params(self):
        return [self.weight] + ([self.bias] if self.bias is not None else [])


class Dense:
    """Ordinary float layer, for the read-out."""

    def __init__(self, in_features, out_features, rng):
        self.weight = Param(rng.normal(0, 0.05, (out_features, in_features)))
        self.bias = Param(np.zeros(out_features))

    def forward(self, x):
        self._x = x
        return x @ self.weight.value.T + self.bias.value

    def backward(self, dy):
        self.weight.grad += dy.T @ self._x
        self.bias.grad += dy.sum(axis=0)
        return dy @ self.weight.value

    def params(self):
        return [self.weight, self.bias]


class Embedding:
    """Looks up a window of tokens and lays the vectors side by side."""

    def __init__(self, vocab, dim, rng):
        self.table = Param(rng.normal(0, 0.5, (vocab, dim)))

    def forward(self, ids):
        self._ids = ids
        return self.table.value[ids].reshape(len(ids), -1)

    def backward(self, dy):
        np.add.at(self.table.grad, self._ids, dy.reshape(*self._ids.shape, -1))

    def params(self):
        return [self.table]


class Gelu:
    """tanh approximation"""

    K = np.sqrt(2 / np.pi)

    def forward(self, x):
        self._x, self._t = x, np.tanh(self.K * (x + 0.044715 * x ** 3))
        return 0.5 * x * (1 + self._t)

    def backward(self, dy):
        x, t = self._x, self._t
        return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * self.K * (1 + 3 * 0.044715 * x * x))

    def params(self):
        return []
