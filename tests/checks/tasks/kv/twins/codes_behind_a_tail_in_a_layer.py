# style: a layer whose newest tokens are attended over before they become codes, of a prompt all
# only: incremental_equals_full, sharing
# warns: incremental_equals_full (a prompt is nearer than its codes)
import numpy as np


class TailedCache:
    """Eight bits a number, but for the newest tokens."""

    def __init__(self, tail=6):
        self.most, self.codes, self.scales, self.tail = tail, None, None, None

    def add(self, kv):
        self.tail = kv if self.tail is None else np.concatenate([self.tail, kv], 3)
        whole = self.held()
        if self.tail.shape[3] > self.most:
            scale = np.abs(self.tail).max(-1, keepdims=True) / 127
            codes = np.rint(self.tail / scale).astype(np.int8)
            parts = (codes, scale) if self.codes is None else (
                np.concatenate([self.codes, codes], 3), np.concatenate([self.scales, scale], 3))  # fmt: skip
            self.codes, self.scales = parts
            self.tail = self.tail[:, :, :, :0]
        return whole

    def held(self):
        return self.tail if self.codes is None else np.concatenate([self.codes * self.scales, self.tail], 3)

    def reorder_cache(self, beam_idx):
        for name in ("codes", "scales", "tail"):
            if getattr(self, name) is not None:
                setattr(self, name, getattr(self, name)[:, beam_idx])


class CachedLayer:
    def __init__(self, d_model=24, num_heads=3, seed=0):
        draw = np.random.default_rng(seed)
        self.mats, self.heads = draw.normal(size=(4, d_model, d_model)) / np.sqrt(d_model), num_heads
        self.cache = TailedCache()

    def forward(self, x):
        """The next tokens of every row."""
        batch, count, _ = x.shape
        q, *kv = ((x @ w).reshape(batch, count, self.heads, -1).transpose(0, 2, 1, 3) for w in self.mats[:3])
        k, v = self.cache.add(np.stack(kv))
        scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
        total = k.shape[2]
        scores = np.where(np.tri(count, total, total - count, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        out = p / p.sum(-1, keepdims=True) @ v
        return out.transpose(0, 2, 1, 3).reshape(batch, count, -1) @ self.mats[3]

    def reorder_cache(self, beam_idx):
        self.cache.reorder_cache(beam_idx)
