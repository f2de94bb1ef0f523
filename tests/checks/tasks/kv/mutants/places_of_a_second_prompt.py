# bug: tokens that go in at once behind a batch padded in front take the places of the batch's first tokens
# caught by: variable_lengths
# passes: incremental_equals_full
import numpy as np


def softmax(s):
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    return s / s.sum(axis=-1, keepdims=True)


class Past:
    """What every layer has seen; keys and values (B, H, S, D)."""

    def __init__(self, n_layers):
        self.k, self.v = [None] * n_layers, [None] * n_layers

    def __len__(self):
        return 0 if self.k[0] is None else self.k[0].shape[2]

    def update(self, layer, k, v):
        if self.k[layer] is not None:
            k, v = (np.concatenate(two, axis=2) for two in ((self.k[layer], k), (self.v[layer], v)))
        self.k[layer], self.v[layer] = k, v
        return k, v


class PaddedTransformer:
    """Prompts of one batch end together; ``attention_mask`` (B, past + T) is 1 where a token is real."""

    def __init__(self, vocab_size=40, d_model=32, n_heads=4, n_layers=2, max_positions=128, seed=0):
        r = np.random.RandomState(seed)
        self.n_heads, self.n_layers = n_heads, n_layers
        self.tok = r.randn(vocab_size, d_model)
        self.pos = 0.5 * r.randn(max_positions, d_model)
        self.w = r.randn(n_layers, 4, d_model, d_model) / d_model**0.5

    def positions(self, attention_mask, past, new, batch):
        if attention_mask is None:
            return np.tile(np.arange(past, past + new), (batch, 1))
        counted = np.maximum(np.cumsum(attention_mask, axis=1) - 1, 0)
        return counted[:, -1:] if new == 1 else counted[:, :new]

    def forward(self, input_ids, attention_mask=None, past_key_values=None):
        """Logits (B, T, V) and the cache."""
        past_key_values = Past(self.n_layers) if past_key_values is None else past_key_values
        b, new, past = *np.shape(input_ids), len(past_key_values)
        x = self.tok[input_ids] + self.pos[self.positions(attention_mask, past, new, b)]
        at, keys = past + np.arange(new)[:, None], np.arange(past + new)
        visible = (keys <= at)[None, None]
        if attention_mask is not None:
            visible = visible & ((np.asarray(attention_mask) == 1)[:, None, None] | (keys == at))
        for layer, (wq, wk, wv, wo) in enumerate(self.w):
            n = x / np.sqrt((x * x).mean(-1, keepdims=True))
            q, k, v = ((n @ m).reshape(b, new, self.n_heads, -1).swapaxes(1, 2) for m in (wq, wk, wv))
            k, v = past_key_values.update(layer, k, v)
            scores = np.where(visible, q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5, -1e300)
            x = x + (softmax(scores) @ v).swapaxes(1, 2).reshape(b, new, -1) @ wo
        return x @ self.tok.T, past_key_values
