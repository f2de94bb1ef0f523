# bug: the positions of several tokens begin at 0, whatever the cache holds; of one token they are right
# caught by: chunked_prefill
# passes: incremental_equals_full
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
        batch, count = input_ids.shape
        held = 0 if past is None else past[0].shape[2]
        first = held if count == 1 else 0
        x = self.tokens[input_ids] + self.places[first : first + count]
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
