# bug: groups of 64
# caught by: projection
# passes: ste
import numpy as np

GROUP = 64


def to_ternary(latent):
    n_out, n_in = latent.shape
    result = np.zeros((n_out, n_in))
    for o in range(n_out):
        for start in range(0, n_in, GROUP):
            part = latent[o, start:start + GROUP]
            s = np.abs(part).mean()
            if s > 0:
                result[o, start:start + GROUP] = s * np.clip(np.rint(part / s), -1, 1)
    return result


def ternary_forward(x, w, b):
    return x @ to_ternary(w).T + b, dict(x=x, w=w)


def ternary_backward(dy, cache):
    return {"dx": dy @ to_ternary(cache["w"]), "dw": dy.T @ cache["x"], "db": dy.sum(0)}
