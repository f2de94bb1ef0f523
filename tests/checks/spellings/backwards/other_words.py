"""Names of its own for everything."""
import numpy as np


def normalize_forward(tokens, gain, shift, stability=1e-5):
    average = tokens.mean(axis=-1, keepdims=True)
    spread = np.sqrt(tokens.var(axis=-1, keepdims=True) + stability)
    unit = (tokens - average) / spread
    keep = dict(unit=unit, spread=spread, gain=gain)
    return unit * gain + shift, keep


def normalize_backward(incoming, keep):
    unit, spread, gain = keep["unit"], keep["spread"], keep["gain"]
    scaled = incoming * gain
    towards_tokens = (scaled - scaled.mean(-1, keepdims=True) - unit * (scaled * unit).mean(-1, keepdims=True)) / spread
    return towards_tokens, (incoming * unit).sum(axis=(0, 1)), incoming.sum(axis=(0, 1))
