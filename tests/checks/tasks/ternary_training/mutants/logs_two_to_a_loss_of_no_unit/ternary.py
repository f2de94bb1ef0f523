# bug: perplexity is 2 to the power of a loss, and nothing says in which unit it is
# caught by: convergence (warn)
# passes: projection
"""Three levels to a weight."""
import numpy as np


def ternary(latent, group=128):
    out = np.empty_like(latent)
    for a in range(0, latent.shape[1], group):
        block = latent[:, a : a + group]
        scale = np.abs(block).mean(axis=1)[:, None]
        out[:, a : a + group] = scale * ((block > scale / 2).astype(float) - (block < -scale / 2))
    return out


def linear(x, latent):
    return x @ ternary(latent).T


def linear_backward(dy, x, latent):
    return dy @ ternary(latent), dy.T @ x
