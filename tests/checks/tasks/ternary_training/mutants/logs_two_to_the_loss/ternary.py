# bug: perplexity is 2 to the power of a loss in nats
# caught by: convergence
# passes: projection
"""1.58 bits per weight: log2(3)."""
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


def evaluate(x, y, latent):
    z = linear(x, latent)
    z = z - z.max(axis=1, keepdims=True)
    nll = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]
    return nll.mean(), 2.0 ** nll.mean()
