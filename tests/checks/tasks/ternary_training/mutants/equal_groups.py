# bug: groups of equal size where 128 and a rest are asked for
# caught by: projection
# passes: ste
"""A linear layer that computes with three-valued weights and learns with real ones.

The lesson in one paragraph.  We keep a real ("latent") weight for every connection.  For the
forward pass each row is cut into groups of 128 weights; a group is replaced by s * {-1, 0, 1}
with s the mean absolute value of the group.  Rounding has no useful derivative, so the backward pass
pretends that it was not there (straight-through) and treats s as a number, not as
a function of the weights.
"""
import numpy as np

GROUP_SIZE = 128


def split_groups(row, size=GROUP_SIZE):
    """Cut one row of weights into its groups; the row need not be a multiple of `size`."""
    return np.array_split(row, -(-len(row) // size))


def project_group(w):
    s = np.mean(np.abs(w))
    if s == 0:
        return np.zeros_like(w)
    return s * np.clip(np.round(w / s), -1, 1)


def project(weight, size=GROUP_SIZE):
    """Ternary version of an (out, in) matrix."""
    return np.stack([np.concatenate([project_group(g) for g in split_groups(row, size)])
                     for row in weight])


class TernaryLayer:
    def __init__(self, in_features, out_features, rng):
        self.weight = rng.uniform(-1, 1, (out_features, in_features)) * np.sqrt(3 / in_features)
        self.bias = np.zeros(out_features)
        self.weight_grad = None
        self.bias_grad = None

    def forward(self, x):
        self.x, self.q = x, project(self.weight)
        return x @ self.q.T + self.bias

    def backward(self, grad_out):
        """Sets weight_grad and bias_grad, returns the gradient of the input."""
        flat_g = grad_out.reshape(-1, grad_out.shape[-1])
        self.weight_grad = flat_g.T @ self.x.reshape(-1, self.x.shape[-1])
        self.bias_grad = flat_g.sum(axis=0)
        return grad_out @ self.q

    def learn(self, rate):
        self.weight = self.weight - rate * self.weight_grad
        self.bias = self.bias - rate * self.bias_grad
