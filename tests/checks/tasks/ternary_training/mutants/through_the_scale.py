# bug: the scale is differentiated as well
# caught by: ste
# passes: projection
import numpy as np

G = 128


def quant_forward(x, W, b):
    Wq, s, t = np.zeros_like(W), np.zeros_like(W), np.zeros_like(W)
    for i in range(0, W.shape[1], G):
        k = np.abs(W[:, i:i + G]).mean(axis=1, keepdims=True)
        s[:, i:i + G] = k
        t[:, i:i + G] = np.clip(np.round(W[:, i:i + G] / (k + 1e-15)), -1, 1)
    Wq = s * t
    return x @ Wq.T + b, (x, W, Wq, t)


def quant_backward(dy, cache):
    x, W, Wq, t = cache
    g = dy.T @ x
    dW = g.copy()
    for i in range(0, W.shape[1], G):
        block = slice(i, min(i + G, W.shape[1]))
        ds = (g[:, block] * t[:, block]).sum(axis=1, keepdims=True)
        dW[:, block] += ds * np.sign(W[:, block]) / (block.stop - block.start)
    return dy @ Wq, dW, dy.sum(axis=0)
