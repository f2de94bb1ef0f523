# right: a group is a run of rows of the transposed weights, padded by as many as are missing
# only: projection, ste
import numpy as np

GROUP = 128


def ternarize_weight(weight):
    """(out, in) -> s * {-1, 0, 1}, s = mean |W| of each run of 128 inputs."""
    columns = weight.T
    groups = -(-len(columns) // GROUP)
    missing = groups * GROUP - len(columns)
    runs = np.pad(columns, ((0, missing), (0, 0))).reshape(groups, GROUP, -1)
    there = (np.arange(groups * GROUP) < len(columns)).reshape(groups, GROUP, 1)
    scale = np.abs(runs).sum(axis=1, keepdims=True) / there.sum(axis=1, keepdims=True)
    levels = np.clip(np.rint(runs / np.where(scale > 0, scale, 1)), -1, 1)
    return (levels * scale).reshape(groups * GROUP, -1)[: len(columns)].T


class TernaryDense:
    def __init__(self, in_features, out_features, rng):
        self.weight = rng.normal(0, 0.1, (out_features, in_features))
        self.dweight = np.zeros_like(self.weight)

    def forward(self, x):
        self.seen, self.used = x, ternarize_weight(self.weight)
        return x @ self.used.T

    def backward(self, dy):
        self.dweight = dy.T @ self.seen
        return dy @ self.used
