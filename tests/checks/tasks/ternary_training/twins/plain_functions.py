# style: functions: (y, cache) and (dx, dW, db), group scales by reshape with a padded last group
# only: projection, ste
import numpy as np

G = 128


def quantize_groups(w, group=G):
    rows, cols = w.shape
    pad = (-cols) % group
    padded = np.pad(w, ((0, 0), (0, pad)))
    blocks = padded.reshape(rows, -1, group)
    real = np.pad(np.ones_like(w), ((0, 0), (0, pad))).reshape(rows, -1, group)
    s = np.abs(blocks).sum(-1) / real.sum(-1)
    t = np.where(blocks > s[..., None] / 2, 1.0, np.where(blocks < -s[..., None] / 2, -1.0, 0.0))
    codes = t.reshape(rows, -1)[:, :cols].astype(np.int8)
    return codes, s


def dequantize(codes, s, group=G):
    full = np.repeat(s, group, axis=1)[:, : codes.shape[1]]
    return codes * full


def ternary_linear_forward(inp, W, b=None):
    Wq = dequantize(*quantize_groups(W))
    y = np.einsum("bi,oi->bo", inp, Wq)
    if b is not None:
        y += b
    return y, {"inp": inp, "Wq": Wq, "has_bias": b is not None}


def ternary_linear_backward(dout, cache):
    db = dout.sum(0) if cache["has_bias"] else None
    return dout @ cache["Wq"], np.einsum("bo,bi->oi", dout, cache["inp"]), db
