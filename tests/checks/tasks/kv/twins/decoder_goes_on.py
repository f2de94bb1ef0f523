# style: a decoder whose one call takes a prompt, a token, and what comes between
# only: chunked_prefill, incremental_equals_full
# passes: chunked_prefill
import numpy as np


class CausalLM:
    def __init__(self, vocab_size, d_model, num_heads, max_seq_len=128, seed=0):
        rng = np.random.default_rng(seed)
        self.num_heads = num_heads
        self.tokens = rng.normal(size=(vocab_size, d_model))
        self.places = rng.normal(size=(max_seq_len, d_model))
        self.w_q, self.w_k, self.w_v, self.w_o = rng.normal(size=(4, d_model, d_model)) * d_model**-0.5

    def forward(self, input_ids, past=None):
        """Logits of the new tokens, (B, T, vocab_size), and the past that they leave."""
        input_ids = np.asarray(input_ids)
        held = 0 if past is None else past[0].shape[2]
        count = input_ids.shape[1]
        x = self.tokens[input_ids] + self.places[held : held + count]
        q, k, v = (self._split(x @ w) for w in (self.w_q, self.w_k, self.w_v))
        if past is not None:
            k, v = np.concatenate([past[0], k], axis=2), np.concatenate([past[1], v], axis=2)
        scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
        visible = np.arange(held + count) <= held + np.arange(count)[:, None]
        scores = np.where(visible, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weights / weights.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(x.shape)
        return (x + mixed @ self.w_o) @ self.tokens.T, (k, v)

    def _split(self, x):
        return x.reshape(*x.shape[:2], self.num_heads, -1).swapaxes(1, 2)
