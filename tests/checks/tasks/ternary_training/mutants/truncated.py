# bug: int8 codes without rounding: everything below s becomes 0
# caught by: projection
# passes: ste
import numpy as np


def quantize_weight(weight, group_size=128):
    codes = np.zeros(weight.shape, dtype=np.int8)
    scales = []
    for g, start in enumerate(range(0, weight.shape[1], group_size)):
        part = weight[:, start:start + group_size]
        s = np.abs(part).mean(axis=1)
        scales.append(s)
        codes[:, start:start + group_size] = np.clip(part / (s[:, None] + 1e-12), -1, 1).astype(np.int8)
    return codes, np.stack(scales, axis=1)


def ternary_linear_forward(x, weight, bias):
    codes, scales = quantize_weight(weight)
    effective = codes * np.repeat(scales, 128, axis=1)[:, : weight.shape[1]]
    return x @ effective.T + bias, {"x": x, "w": effective}


def ternary_linear_backward(dout, cache):
    return dout @ cache["w"], dout.T @ cache["x"], dout.sum(0)
