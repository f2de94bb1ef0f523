# style: no forward, and neither O nor L is asked for: a first sweep makes them anew; four axes, a list back
# only: gradients, gradient_identities, purity
import numpy as np


def _sweep(q, k, v, tile, scale):
    n = k.shape[2]
    top = np.full(q.shape[:3], -np.inf)
    total = np.zeros(q.shape[:3])
    out = np.zeros(q.shape)
    for j in range(0, n, tile):
        s = scale * np.einsum("bhid,bhjd->bhij", q, k[:, :, j:j + tile])
        new = np.maximum(top, s.max(-1))
        keep, p = np.exp(top - new), np.exp(s - new[..., None])
        total = keep * total + p.sum(-1)
        out = keep[..., None] * out + np.einsum("bhij,bhjd->bhid", p, v[:, :, j:j + tile])
        top = new
    return out / total[..., None], top + np.log(total)


def flash_grads(queries, keys, values, upstream, tile_size=16):
    scale = queries.shape[-1] ** -0.5
    out, lse = _sweep(queries, keys, values, tile_size, scale)
    drop = (out * upstream).sum(-1)[..., None]
    dq, dk, dv = np.zeros(queries.shape), np.zeros(keys.shape), np.zeros(values.shape)
    for j in range(0, keys.shape[2], tile_size):
        kj, vj = keys[:, :, j:j + tile_size], values[:, :, j:j + tile_size]
        p = np.exp(scale * np.einsum("bhid,bhjd->bhij", queries, kj) - lse[..., None])
        ds = scale * p * (np.einsum("bhid,bhjd->bhij", upstream, vj) - drop)
        dv[:, :, j:j + tile_size] = np.einsum("bhij,bhid->bhjd", p, upstream)
        dk[:, :, j:j + tile_size] = np.einsum("bhij,bhid->bhjd", ds, queries)
        dq += np.einsum("bhij,bhjd->bhid", ds, kj)
    return [dq, dk, dv]
