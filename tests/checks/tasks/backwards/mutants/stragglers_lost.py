# bug: only the first round of pairs keeps its odd tile: 81 to 112 rows lose some of them in dgamma and dbeta
# caught by: gradients
# passes: forward_accuracy
import numpy as np


def forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + eps)
    x_hat = centred * rstd
    return gamma * x_hat + beta, (x_hat, rstd, gamma)


def column_sums(rows):
    """Sum (R, D) over R: tiles of 16 rows, then tiles in pairs, so that rounding grows with log R."""
    tiles = np.add.reduceat(rows, range(0, len(rows), 16), axis=0)
    odd = 0.0
    if len(tiles) % 2:
        odd, tiles = tiles[-1], tiles[:-1]
    while len(tiles) > 1:
        half = len(tiles) // 2
        tiles = tiles[:half] + tiles[half : 2 * half]
    return odd + tiles.sum(axis=0)


def backward(dy, cache):
    x_hat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - x_hat * (g * x_hat).mean(axis=-1, keepdims=True))
    width = dy.shape[-1]
    return dx, column_sums((dy * x_hat).reshape(-1, width)), column_sums(dy.reshape(-1, width))
