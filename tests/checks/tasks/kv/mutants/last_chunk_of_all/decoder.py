# bug: every chunk of a prefill takes the place of the last hidden state of all rows, so that shorter prompts lose theirs
# caught by: variable_lengths
# passes: incremental_equals_full, capacity, chunked_prefill
# warned by: cache_size_minimality
"""
A small LLaMA-style decoder with a KV cache.

    model = Decoder(DecoderConfig())
    logits = model.prefill([[5, 9, 2], [7, 1, 1, 4, 8]])   # (B, vocab)
    while not done:
        logits = model.decode(next_tokens)                 # (B, vocab)

* prompts in a batch may have different lengths (no left padding needed);
* prefill runs in chunks, so peak activation memory does not depend on the
  prompt length;
* grouped-query attention (``n_kv_heads <= n_heads``);
* ``forward_full`` is the cache-free reference used for checking.
"""

from dataclasses import dataclass

import numpy as np

from layers import KVStore, rms_norm, rope, swiglu


@dataclass(frozen=True)
class DecoderConfig:
    vocab_size: int = 97
    d_model: int = 48
    n_layers: int = 2
    n_heads: int = 6
    n_kv_heads: int = 2
    d_ff: int = 96
    max_len: int = 128
    prefill_chunk: int = 4
    seed: int = 0

    @property
    def head_dim(self):
        return self.d_model // self.n_heads

    def cache_bytes(self, batch, bytes_per_element=8):
        """Size of the KV cache for ``batch`` sequences (keys and values)."""
        return (2 * self.n_layers * batch * self.max_len
                * self.n_kv_heads * self.head_dim * bytes_per_element)


class Decoder:
    def __init__(self, config=DecoderConfig()):
        c = self.config = config
        if c.d_model % c.n_heads or c.n_heads % c.n_kv_heads or c.head_dim % 2:
            raise ValueError("inconsistent head configuration")
        rng = np.random.default_rng(c.seed)

        def mat(n_in, n_out):
            return rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)

        self.embed = rng.standard_normal((c.vocab_size, c.d_model)) * 0.5
        self.layers = []
        kv_dim = c.n_kv_heads * c.head_dim
        for _ in range(c.n_layers):
            self.layers.append({
                "norm1": np.ones(c.d_model), "norm2": np.ones(c.d_model),
                "wq": mat(c.d_model, c.d_model), "wk": mat(c.d_model, kv_dim),
                "wv": mat(c.d_model, kv_dim), "wo": mat(c.d_model, c.d_model),
                "gate": mat(c.d_model, c.d_ff), "up": mat(c.d_model, c.d_ff),
                "down": mat(c.d_ff, c.d_model),
            })
        self.norm_out = np.ones(c.d_model)
        self.head = mat(c.d_model, c.vocab_size)
        self.cache = None

    # ------------------------------------------------------------ public API
    def prefill(self, prompts, chunk=None):
        """Process the prompts (a new cache is made) and return the logits
        (B, vocab) that follow the last token of each prompt."""
        c = self.config
        chunk = chunk or c.prefill_chunk
        lens = np.array([len(p) for p in prompts])
        if len(prompts) == 0 or (lens == 0).any():
            raise ValueError("every prompt needs at least one token")
        if (lens > c.max_len).any():
            raise ValueError(f"prompt longer than max_len={c.max_len}")
        batch, width = len(prompts), int(lens.max())
        tokens = np.zeros((batch, width), dtype=int)
        for b, p in enumerate(prompts):
            tokens[b, :len(p)] = p

        self.cache = KVStore(c.n_layers, batch, c.max_len, c.n_kv_heads, c.head_dim)
        rows = np.arange(batch)
        last_hidden = np.zeros((batch, c.d_model))
        for start in range(0, width, chunk):
            piece = tokens[:, start:start + chunk]
            n_new = np.clip(lens - start, 0, piece.shape[1])
            hidden = self._forward_cached(piece, n_new)
            # hidden state of the final prompt token, to feed the LM head
            last_idx = np.clip(lens - 1 - start, 0, piece.shape[1] - 1)
            last_hidden = hidden[rows, last_idx]
        return self._logits(last_hidden)

    def decode(self, tokens, active=None):
        """Feed one token per sequence, return the next logits (B, vocab).

        ``active`` (B,) bool marks the sequences still running; the cache of
        the others is not touched and their logits are meaningless.
        """
        if self.cache is None:
            raise RuntimeError("call prefill() before decode()")
        tokens = np.asarray(tokens).reshape(-1, 1)
        batch = len(self.cache.lengths)
        if len(tokens) != batch:
            raise ValueError(f"expected {batch} tokens, got {len(tokens)}")
        n_new = np.ones(batch, dtype=int) if active is None else np.asarray(active).astype(int)
        return self._logits(self._forward_cached(tokens, n_new)[:, 0])

    def generate(self, prompts, n_tokens):
        """Greedy continuation, list of ``n_tokens`` ids for each prompt."""
        logits = self.prefill(prompts)
        out = []
        for i in range(n_tokens):
            out.append(logits.argmax(-1))
            if i + 1 < n_tokens:
                logits = self.decode(out[-1])
        return np.array(out).reshape(n_tokens, len(prompts)).T.tolist()

    def forward_full(self, tokens):
        """Reference without cache: logits (T, vocab) of one sequence."""
        x = self.embed[np.asarray(tokens)][None]
        t = x.shape[1]
        pos = np.arange(t)[None]
        mask = np.tril(np.ones((t, t), dtype=bool))[None]
        for w in self.layers:
            q, k, v = self._qkv(w, x, pos)
            x = x + self._attend(q, k, v, mask) @ w["wo"]
            x = x + swiglu(rms_norm(x, w["norm2"]), w["gate"], w["up"], w["down"])
        return self._logits(x[0])

    # ------------------------------------------------------------- internals
    def _logits(self, x):
        return rms_norm(x, self.norm_out) @ self.head

    def _qkv(self, w, x, pos):
        c = self.config
        b, t, _ = x.shape
        h = rms_norm(x, w["norm1"])
        q = (h @ w["wq"]).reshape(b, t, c.n_heads, c.head_dim)
        k = (h @ w["wk"]).reshape(b, t, c.n_kv_heads, c.head_dim)
        v = (h @ w["wv"]).reshape(b, t, c.n_kv_heads, c.head_dim)
        return rope(q, pos), rope(k, pos), v

    def _attend(self, q, k, v, mask):
        """q (B,T,H,D); k, v (B,S,Hkv,D); mask (B,T,S) -> (B,T,d_model)."""
        c = self.config
        b, t = q.shape[:2]
        q = q.reshape(b, t, c.n_kv_heads, c.n_heads // c.n_kv_heads, c.head_dim)
        s = np.einsum("btkgd,bskd->bkgts", q, k) / np.sqrt(c.head_dim)
        s = np.where(mask[:, None, None], s, -1e30)
        s = np.exp(s - s.max(-1, keepdims=True))
        p = s / s.sum(-1, keepdims=True)
        return np.einsum("bkgts,bskd->btkgd", p, v).reshape(b, t, c.d_model)

    def _forward_cached(self, tokens, n_new):
        """Run (B, T) right-padded tokens, of which the first n_new[b] are real,
        behind what is cached. Returns the hidden states (B, T, d_model)."""
        cache = self.cache
        cache.check_room(n_new)
        t = tokens.shape[1]
        pos = cache.lengths[:, None] + np.arange(t)
        upto = int((cache.lengths + n_new).max())
        mask = np.arange(upto)[None, None, :] <= pos[:, :, None]
        x = self.embed[tokens]
        for i, w in enumerate(self.layers):
            q, k, v = self._qkv(w, x, pos)
            cache.write(i, k, v, n_new)
            k_all, v_all = cache.view(i, upto)
            x = x + self._attend(q, k_all, v_all, mask) @ w["wo"]
            x = x + swiglu(rms_norm(x, w["norm2"]), w["gate"], w["up"], w["down"])
        cache.commit(n_new)
        return x
