# bug: tens of thousands of rows are summed in two stages, and the rows behind the last whole part are lost
# caught by: gradients
# passes: forward_accuracy, degenerate
import numpy as np


class LayerNorm:
    """y = gamma * (x - mean) / sqrt(var + eps) + beta over the last axis."""

    # with this many rows the parameter gradients go through a two-stage reduction
    MANY_ROWS = 64 * 1024
    ROWS_PER_PARTIAL = 256

    def __init__(self, eps: float = 1e-5):
        self.eps = eps
        self.cache = None

    def forward(self, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray):
        centred = x - x.mean(-1, keepdims=True)
        rstd = 1 / np.sqrt(np.square(centred).mean(-1, keepdims=True) + self.eps)
        x_hat = centred * rstd
        cache = (x_hat, rstd, gamma)
        return x_hat * gamma + beta, cache

    def backward(self, dy: np.ndarray, cache):
        x_hat, rstd, gamma = cache
        d_hat = dy * gamma
        dx = d_hat - d_hat.mean(-1, keepdims=True)
        dx -= x_hat * (d_hat * x_hat).mean(-1, keepdims=True)
        dx *= rstd
        return dx, self._column_sum(dy * x_hat), self._column_sum(dy)

    def _column_sum(self, values):
        width = values.shape[-1]
        flat = values.reshape(-1, width)
        rows = flat.shape[0]
        if rows <= self.MANY_ROWS:
            return flat.sum(0)
        step = self.ROWS_PER_PARTIAL
        blocks = rows // step
        partial = np.zeros((blocks, width), dtype=values.dtype)
        for i in range(blocks):
            partial[i] = flat[i * step : (i + 1) * step].sum(0)
        return partial.sum(0)
