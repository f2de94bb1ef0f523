import math


def forward(rows, gain, eps):
    rstds = [1 / math.sqrt(math.fsum(float(v) * float(v) for v in row) / len(row) + eps) for row in rows]
    out = [[v * r * g for v, g in zip(row, gain, strict=True)] for row, r in zip(rows, rstds, strict=True)]
    return out, (rows, rstds, gain)


def backward(dout, cache):
    rows, rstds, gain = cache
    dx, dgain = [], [0.0] * len(gain)
    for dy, row, r in zip(dout, rows, rstds, strict=True):
        along = math.fsum(d * g * v * r for d, g, v in zip(dy, gain, row, strict=True)) / len(row)
        dx.append([r * (d * g - v * r * along) for d, g, v in zip(dy, gain, row, strict=True)])
        dgain = [total + d * v * r for total, d, v in zip(dgain, dy, row, strict=True)]
    return dx, dgain
