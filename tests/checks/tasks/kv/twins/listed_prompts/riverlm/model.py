# right: a decoder made at random from an object of sizes, prompts as lists of ids of several lengths, None for a row that rests
# skips: isolation
"""Pre-norm decoder: RMSNorm, rotary GQA attention, SiLU feed-forward."""
import numpy as np

from .store import LayerStore


def _rms(x, gain, eps=1e-6):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * gain


def _rotate(x, pos, base):
    """Rotary embedding. x (B, H, T, D), pos (B, T)."""
    half = x.shape[-1] // 2
    freq = base ** (-np.arange(half) / half)
    angle = pos[:, None, :, None] * freq
    a, b = x[..., :half], x[..., half:]
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


class Decoder:
    """A decoder with its own cache. ``prefill`` starts a batch, ``decode`` continues it."""

    def __init__(self, spec, weights):
        self.spec, self.w = spec, weights
        self.store = None

    @classmethod
    def random(cls, spec, seed=0):
        rng = np.random.default_rng(seed)
        d, kvd = spec.width, spec.kv_heads * spec.head_dim

        def mat(i, o):
            return rng.normal(0, i ** -0.5, (i, o))

        layers = [
            dict(n1=np.ones(d), q=mat(d, d), k=mat(d, kvd), v=mat(d, kvd), o=mat(d, d),
                 n2=np.ones(d), up=mat(d, 4 * d), down=mat(4 * d, d))
            for _ in range(spec.depth)
        ]
        return cls(spec, dict(embed=rng.normal(0, 1, (spec.vocab, d)), layers=layers,
                              norm=np.ones(d), head=mat(d, spec.vocab)))

    # ------------------------------------------------------------------ cache
    @property
    def lengths(self):
        """Tokens held per row."""
        return [] if self.store is None else self.store.fill.tolist()

    def prefill(self, prompts, *, chunk=None):
        """Forget the previous batch and read the prompts (ragged, none empty).

        ``chunk`` limits the tokens per row and pass. Returns the logits after
        the last token of each prompt, (batch, vocab).
        """
        if not prompts or any(len(p) == 0 for p in prompts):
            raise ValueError("every prompt needs at least one token")
        store = LayerStore(self.spec, len(prompts))
        store.plan([len(p) for p in prompts])          # refuse before any work
        self.store = store
        longest = max(len(p) for p in prompts)
        chunk = chunk or longest
        last = np.zeros((len(prompts), self.spec.vocab))
        for lo in range(0, longest, chunk):
            piece = [list(p[lo:lo + chunk]) for p in prompts]
            out = self._pass(piece)
            for r, p in enumerate(piece):
                if p:
                    last[r] = out[r, len(p) - 1]
        return last

    def decode(self, tokens):
        """Append one token to every row (``None`` leaves a row as it is).

        Returns (batch, vocab); rows given ``None`` are NaN.
        """
        if self.store is None:
            raise RuntimeError("call prefill before decode")
        if len(tokens) != self.store.rows:
            raise ValueError(f"{len(tokens)} tokens for {self.store.rows} rows")
        pieces = [[] if t is None else [int(t)] for t in tokens]
        if not any(pieces):
            return np.full((len(tokens), self.spec.vocab), np.nan)
        out = self._pass(pieces)[:, 0]
        out[[not p for p in pieces]] = np.nan
        return out

    def generate(self, prompts, steps, *, chunk=None):
        """Greedy generator: yields the list of next tokens, one per row, ``steps`` times."""
        logits = self.prefill(prompts, chunk=chunk)
        for i in range(steps):
            picked = logits.argmax(axis=-1).tolist()
            yield picked
            if i + 1 < steps:
                logits = self.decode(picked)

    # ---------------------------------------------------------------- forward
    def _pass(self, pieces):
        """Run ragged new tokens through all layers. Returns (B, T, vocab), right-padded."""
        sp, st = self.spec, self.store
        counts = np.array([len(p) for p in pieces])
        start = st.plan(counts)
        T = counts.max()
        ids = np.zeros((len(pieces), T), dtype=np.int64)
        for r, p in enumerate(pieces):
            ids[r, :len(p)] = p
        if ids.min() < 0 or ids.max() >= sp.vocab:
            raise ValueError("token id outside the vocabulary")
        pos = start[:, None] + np.arange(T)                      # (B, T)
        upto = int((start + counts).max())
        seen = np.arange(upto) <= pos[:, :, None]                # (B, T, upto)
        x = self.w["embed"][ids]
        for i, w in enumerate(self.w["layers"]):
            x = x + self._attend(i, w, _rms(x, w["n1"]), start, counts, pos, seen, upto)
            h = _rms(x, w["n2"]) @ w["up"]
            x = x + (h / (1 + np.exp(-h))) @ w["down"]
        st.commit(counts)
        return _rms(x, self.w["norm"]) @ self.w["head"]

    def _attend(self, i, w, x, start, counts, pos, seen, upto):
        sp, (B, T, _) = self.spec, x.shape

        def heads(m, n):
            return (x @ m).reshape(B, T, n, sp.head_dim).transpose(0, 2, 1, 3)

        q = _rotate(heads(w["q"], sp.q_heads), pos, sp.rope_base)
        k = _rotate(heads(w["k"], sp.kv_heads), pos, sp.rope_base)
        self.store.write(i, start, counts, k, heads(w["v"], sp.kv_heads))
        K, V = self.store.span(i, upto)
        # Query head h reads KV head h // group: fold the group into its own axis.
        q = q.reshape(B, sp.kv_heads, sp.group, T, sp.head_dim)
        s = np.einsum("bkgtd,bksd->bkgts", q, K) / np.sqrt(sp.head_dim)
        s = np.where(seen[:, None, None], s, -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        o = np.einsum("bkgts,bksd->bkgtd", p, V).reshape(B, sp.q_heads, T, sp.head_dim)
        return o.transpose(0, 2, 1, 3).reshape(B, T, -1) @ w["o"]
