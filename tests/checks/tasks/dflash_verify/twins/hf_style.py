# right: additive float32 mask in four axes, a model output with .logits, model first, keyword temperature
import numpy as np


class ModelOutput:
    def __init__(self, logits):
        self.logits = logits


class TinyTransformer:
    def __init__(self, vocab_size=96, hidden=24, n_heads=2, seed=0):
        rng = np.random.default_rng(seed)
        self.vocab_size, self.n_heads = vocab_size, n_heads
        self.tok = rng.standard_normal((vocab_size, hidden)).astype(np.float32)
        self.qkv = rng.standard_normal((hidden, 3 * hidden)).astype(np.float32) / hidden**0.5

    def forward(self, input_ids, attention_mask, position_ids=None):
        x = self.tok[input_ids[0]]
        q, k, v = np.split(x @ self.qkv, 3, axis=-1)
        s = q @ k.T / np.sqrt(q.shape[-1]) + attention_mask[0, 0]
        s = np.exp(s - s.max(-1, keepdims=True))
        out = x + (s / s.sum(-1, keepdims=True)) @ v
        return ModelOutput((out @ self.tok.T)[None])

    __call__ = forward


def make_tree_attention_mask(prefix_len, parent_indices):
    """bool (P+N, P+N); True means "may attend"."""
    n = len(parent_indices)
    total = prefix_len + n
    mask = np.zeros((total, total), dtype=np.bool_)
    mask[:prefix_len, :prefix_len] = np.tril(np.ones((prefix_len, prefix_len), dtype=np.bool_))
    mask[prefix_len:, :prefix_len] = True
    for node in range(n):
        current = node
        while current != -1:
            mask[prefix_len + node, prefix_len + current] = True
            current = int(parent_indices[current])
    return mask


def tree_position_ids(prefix_len, parent_indices):
    depth = []
    for p in parent_indices:
        depth.append(prefix_len if p == -1 else depth[p] + 1)
    return np.concatenate([np.arange(prefix_len), np.array(depth, dtype=int)])


def verify_tree(model, input_ids, draft_tokens, parent_indices, *, temperature=0.0):
    prefix_len = len(input_ids)
    bool_mask = make_tree_attention_mask(prefix_len, parent_indices)
    bias = np.where(bool_mask, np.float32(0), np.float32(-1e9))[None, None]
    ids = np.concatenate([np.asarray(input_ids), np.asarray(draft_tokens)]).astype(np.int64)[None]
    positions = tree_position_ids(prefix_len, parent_indices).astype(np.int64)[None]
    logits = model(input_ids=ids, attention_mask=bias, position_ids=positions).logits[0]

    def select(row):
        if temperature < 1e-5:
            return int(row.argmax())
        p = np.exp((row - row.max()) / temperature)
        return int(np.random.multinomial(1, p / p.sum()).argmax())

    accepted_tokens = []
    cursor = -1
    next_token = select(logits[prefix_len - 1])
    while True:
        for j in range(len(draft_tokens)):
            if parent_indices[j] == cursor and draft_tokens[j] == next_token:
                accepted_tokens.append(int(draft_tokens[j]))
                cursor = j
                next_token = select(logits[prefix_len + j])
                break
        else:
            break
    return {"accepted_tokens": accepted_tokens, "next_token": next_token}
