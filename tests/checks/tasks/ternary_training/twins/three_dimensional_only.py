# style: (B, T, in) only; refuses other ranks; backward takes what it needs as arguments
# only: projection, ste
import numpy as np


def ternary_weights(w):
    out_features, in_features = w.shape
    scale = np.empty_like(w)
    for start in range(0, in_features, 128):
        stop = min(start + 128, in_features)
        scale[:, start:stop] = np.mean(np.abs(w[:, start:stop]), axis=1)[:, None]
    levels = np.zeros_like(w)
    levels[w > scale / 2] = 1
    levels[w < -scale / 2] = -1
    return levels * scale


def ternary_linear(hidden_states, weight, bias):
    if hidden_states.ndim != 3:
        raise ValueError("expected (batch, time, features)")
    return np.einsum("bti,oi->bto", hidden_states, ternary_weights(weight)) + bias


def ternary_linear_grad(grad_out, hidden_states, weight):
    dx = np.einsum("bto,oi->bti", grad_out, ternary_weights(weight))
    dw = np.einsum("bto,bti->oi", grad_out, hidden_states)
    return dx, dw, grad_out.sum(axis=(0, 1))
