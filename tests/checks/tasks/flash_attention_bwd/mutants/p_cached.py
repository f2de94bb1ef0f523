# bug: P of every tile is kept in one (N, N) array
# caught by: cache_minimality, peak_memory
# passes: gradients
"""Tiled in both directions, with the weights kept so that the backward need not exponentiate again."""
from types import SimpleNamespace

import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    ctx = SimpleNamespace(Q=Q, K=K, V=V, O=np.empty_like(Q), L=np.empty((B, H, N), Q.dtype))
    ctx.weights = np.zeros((B, H, N, N), Q.dtype)
    for top in range(0, N, tile_size):
        bottom = min(top + tile_size, N)
        right = bottom if causal else N
        # First pass over the keys: the log-sum-exp alone. Second pass: weights that are final at once.
        lse = np.full((B, H, bottom - top), -np.inf, Q.dtype)
        for left in range(0, right, tile_size):
            s = _tile(ctx, top, bottom, left, min(left + tile_size, right), causal)
            lse = np.logaddexp(lse, _logsumexp(s))
        base = np.where(np.isneginf(lse), 0.0, lse)[..., None]
        acc = np.zeros((B, H, bottom - top, D), Q.dtype)
        for left in range(0, right, tile_size):
            end = min(left + tile_size, right)
            w = np.exp(_tile(ctx, top, bottom, left, end, causal) - base)
            ctx.weights[:, :, top:bottom, left:end] = w
            acc += w @ V[:, :, left:end]
        ctx.O[:, :, top:bottom], ctx.L[:, :, top:bottom] = acc, lse
    return ctx.O, ctx


def _tile(ctx, top, bottom, left, end, causal):
    s = np.einsum("...id,...jd->...ij", ctx.Q[:, :, top:bottom], ctx.K[:, :, left:end])
    s /= np.sqrt(ctx.Q.shape[-1])
    if causal:
        np.copyto(s, -np.inf, where=np.arange(top, bottom)[:, None] < np.arange(left, end)[None, :])
    return s


def _logsumexp(s):
    peak = s.max(axis=-1)
    peak = np.where(np.isneginf(peak), 0.0, peak)
    with np.errstate(divide="ignore"):
        return peak + np.log(np.exp(s - peak[..., None]).sum(axis=-1))


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    ctx = cache
    N, scale = ctx.Q.shape[2], ctx.Q.shape[3] ** -0.5
    dQ, dK, dV = (np.zeros_like(x) for x in (ctx.Q, ctx.K, ctx.V))
    correction = np.einsum("...nd,...nd->...n", dO, ctx.O)[..., None]
    for left in range(0, N, tile_size):
        keys = slice(left, min(left + tile_size, N))
        for top in range(left if causal and left % tile_size == 0 else 0, N, tile_size):
            rows = slice(top, min(top + tile_size, N))
            w = ctx.weights[:, :, rows, keys]
            dS = w * (np.einsum("...id,...jd->...ij", dO[:, :, rows], ctx.V[:, :, keys]) - correction[:, :, rows])
            dV[:, :, keys] += np.einsum("...ij,...id->...jd", w, dO[:, :, rows])
            dK[:, :, keys] += scale * np.einsum("...ij,...id->...jd", dS, ctx.Q[:, :, rows])
            dQ[:, :, rows] += scale * np.einsum("...ij,...jd->...id", dS, ctx.K[:, :, keys])
    return dQ, dK, dV
