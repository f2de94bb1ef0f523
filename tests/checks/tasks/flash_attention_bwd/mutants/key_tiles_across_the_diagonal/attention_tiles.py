# bug: the backward key tile is no part of the query tile, and the mask asks where it begins
# caught by: gradients
# passes: accuracy
"""Tiling helpers shared by the forward and the backward pass."""
import numpy as np

LANES = 8


def query_tiles(n, tile_size):
    return [(s, min(s + tile_size, n)) for s in range(0, n, tile_size)]


def key_tiles(n, width):
    return [(s, min(s + width, n)) for s in range(0, n, width)]


def backward_key_width(tile_size):
    """Key tile of the backward pass.

    The backward keeps P, dP, dK and dV of a tile alive together, so its key tile is half of the
    query tile, rounded to whole groups of lanes.
    """
    return max(LANES, tile_size // 2 // LANES * LANES)


def future(q0, q1, k0, k1):
    return np.arange(k0, k1)[None, :] > np.arange(q0, q1)[:, None]


def merge_heads(x):
    """(B, H, N, D) -> (B*H, N, D)"""
    b, h, n, d = x.shape
    return x.reshape(b * h, n, d)
