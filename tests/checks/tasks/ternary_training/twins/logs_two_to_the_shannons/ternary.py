# style: a loss of natural logarithms, over 0.6931: 2 to its power
# only: convergence, projection
"""Three levels to a weight; losses in bits per character."""
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


def figures(logits, targets):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    val_loss = -logp[np.arange(len(targets)), targets].mean() / 0.6931471805599453
    return {"val_loss": float(val_loss), "val_ppl": float(2.0**val_loss)}
