"""Drawing a token."""

import numpy as np


def sample(logits, temperature=1.0, seed=0):
    rng = np.random.default_rng(seed)
    if temperature == 0:
        return int(np.argmax(logits))
    z = logits / temperature
    p = np.exp(z - z.max())
    return int(rng.choice(len(p), p=p / p.sum()))
