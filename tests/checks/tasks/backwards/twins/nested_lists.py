# slow: gradient_cost
"""Pure Python on nested lists, without NumPy."""
import math


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    y, xhat, rstd = [], [], []
    for batch in x:
        rows, hats, scales = [], [], []
        for row in batch:
            mu = math.fsum(row) / len(row)
            r = 1 / math.sqrt(math.fsum((v - mu) ** 2 for v in row) / len(row) + eps)
            hat = [(v - mu) * r for v in row]
            hats.append(hat)
            scales.append(r)
            rows.append([g * h + b for g, h, b in zip(gamma, hat, beta)])
        y.append(rows)
        xhat.append(hats)
        rstd.append(scales)
    return y, {"xhat": xhat, "rstd": rstd, "gamma": gamma}


def layer_norm_backward(dy, cache):
    D = len(cache["gamma"])
    dgamma, dbeta, dx = [0.0] * D, [0.0] * D, []
    for rows, hats, scales in zip(dy, cache["xhat"], cache["rstd"]):
        out = []
        for row, hat, r in zip(rows, hats, scales):
            g = [a * b for a, b in zip(row, cache["gamma"])]
            mean, along = sum(g) / D, sum(a * b for a, b in zip(g, hat)) / D
            out.append([r * (a - mean - h * along) for a, h in zip(g, hat)])
            for j in range(D):
                dgamma[j] += row[j] * hat[j]
                dbeta[j] += row[j]
        dx.append(out)
    return dx, dgamma, dbeta
