# bug: L of a row that sees nothing is NaN, in a cache of tiles; the backward replaces it
# caught by: logsumexp
# passes: gradients, masked_rows
"""The cache is a list with what every tile of queries needs for its own backward."""
import numpy as np


class QueryTile:
    def __init__(self, start, Q, K, V, size):
        self.start, self.stop = start, min(start + size, Q.shape[2])
        self.Q, self.K, self.V = Q, K, V

    def keys(self, size, causal):
        limit = self.stop if causal else self.K.shape[2]
        return [slice(a, min(a + size, limit)) for a in range(0, limit, size)]

    def scores(self, span, causal):
        q = self.Q[:, :, self.start : self.stop]
        s = q @ self.K[:, :, span].swapaxes(-2, -1) / np.sqrt(q.shape[-1])
        if causal:
            rows, cols = np.ogrid[self.start : self.stop, span.start : span.stop]
            s = np.where(cols <= rows, s, -np.inf)
        return s


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    tiles, outputs = [], []
    for start in range(0, Q.shape[2], tile_size):
        tile = QueryTile(start, Q, K, V, tile_size)
        peak = np.full((*Q.shape[:2], tile.stop - start, 1), -np.inf)
        mass, total = np.zeros_like(peak), np.zeros((*Q.shape[:2], tile.stop - start, Q.shape[3]))
        for span in tile.keys(tile_size, causal):
            s = tile.scores(span, causal)
            higher = np.maximum(peak, s.max(-1, keepdims=True))
            level = np.where(np.isneginf(higher), 0.0, higher)
            weight, fade = np.exp(s - level), np.exp(peak - level)
            mass, total = mass * fade + weight.sum(-1, keepdims=True), total * fade + weight @ V[:, :, span]
            peak = higher
        tile.O = total / np.where(mass == 0, 1.0, mass)
        with np.errstate(divide="ignore"):
            tile.L = np.where(mass == 0, np.nan, peak + np.log(mass))
        outputs.append(tile.O)
        tiles.append(tile)
    return np.concatenate(outputs, axis=2).astype(Q.dtype), tiles


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    dQ, dK, dV = np.zeros_like(dO), np.zeros_like(dO), np.zeros_like(dO)
    scale = 1.0 / np.sqrt(dO.shape[-1])
    for tile in cache:
        rows = slice(tile.start, tile.stop)
        lse = np.where(np.isnan(tile.L), np.inf, tile.L)
        share = (dO[:, :, rows] * tile.O).sum(-1, keepdims=True)
        for span in tile.keys(tile_size, causal):
            weight = np.exp(tile.scores(span, causal) - lse)
            ds = scale * weight * (dO[:, :, rows] @ tile.V[:, :, span].swapaxes(-2, -1) - share)
            dQ[:, :, rows] += ds @ tile.K[:, :, span]
            dK[:, :, span] += ds.swapaxes(-2, -1) @ tile.Q[:, :, rows]
            dV[:, :, span] += weight.swapaxes(-2, -1) @ dO[:, :, rows]
    return dQ, dK, dV
