"""Pure Python: a list of rows in, a list of rows out."""
import math


def forward(rows, gamma, beta, eps):
    out, xhats, rstds = [], [], []
    for row in rows:
        if any(isinstance(v, list) for v in row):
            raise TypeError("a row is a list of numbers")
        mean = math.fsum(row) / len(row)
        var = math.fsum((v - mean) ** 2 for v in row) / len(row)
        rstd = 1.0 / math.sqrt(var + eps)
        xhat = [(v - mean) * rstd for v in row]
        out.append([h * g + b for h, g, b in zip(xhat, gamma, beta)])
        xhats.append(xhat)
        rstds.append(rstd)
    return out, (xhats, rstds, list(gamma))


def backward(dy, cache):
    xhats, rstds, gamma = cache
    width = len(gamma)
    dx, dgamma, dbeta = [], [0.0] * width, [0.0] * width
    for grads, xhat, rstd in zip(dy, xhats, rstds):
        g = [float(d) * w for d, w in zip(grads, gamma)]
        mean_g = math.fsum(g) / width
        mean_gx = math.fsum(a * h for a, h in zip(g, xhat)) / width
        dx.append([rstd * (a - mean_g - h * mean_gx) for a, h in zip(g, xhat)])
        for j in range(width):
            dgamma[j] += grads[j] * xhat[j]
            dbeta[j] += grads[j]
    return dx, dgamma, dbeta
