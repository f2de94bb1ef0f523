# right: parents count from the start of the prompt; additive bias and positions for the model; a dict comes back
"""Tree verification with HF-like naming.  `tree_parents[i]` is a position in the flattened sequence:
the roots hang on the last prompt token, i.e. their parent is `prompt_len - 1`."""
import numpy as np

NEG = float(np.finfo(np.float32).min)


class MinimalTargetLM:
    def __init__(self, vocab_size=48, d=12, max_pos=256, rng=None):
        rng = rng or np.random.RandomState(3)
        self.config = {"vocab_size": vocab_size, "d": d}
        self.wte = rng.randn(vocab_size, d).astype(np.float32)
        self.wpe = rng.randn(max_pos, d).astype(np.float32) * 0.1
        self.head = rng.randn(d, vocab_size).astype(np.float32)

    def forward(self, input_ids, attn_bias, position_ids):
        x = self.wte[input_ids] + self.wpe[position_ids]
        s = x @ x.T / np.sqrt(x.shape[-1]) + attn_bias
        s = np.exp(s - s.max(axis=1, keepdims=True))
        return (s / s.sum(axis=1, keepdims=True)) @ x @ self.head


def build_tree_mask(prompt_len, tree_parents):
    tree_parents = np.asarray(tree_parents, dtype=int)
    L = prompt_len + len(tree_parents)
    mask = np.eye(L, dtype=bool)
    for pos in range(1, L):
        parent = pos - 1 if pos < prompt_len else tree_parents[pos - prompt_len]
        mask[pos] |= mask[parent]
    return mask


def depths(mask):
    return mask.sum(axis=1) - 1


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def verify_and_accept(*, prompt, tree_tokens, tree_parents, target_model, temperature=0.0, rng=None):
    ids = np.concatenate([np.asarray(prompt, dtype=int), np.asarray(tree_tokens, dtype=int)])
    P = len(prompt)
    mask = build_tree_mask(P, tree_parents)
    bias = np.where(mask, 0.0, NEG)
    logits = target_model.forward(ids, attn_bias=bias, position_ids=depths(mask))
    cursor, accepted = P - 1, []
    while True:
        if temperature == 0.0:
            nxt = int(logits[cursor].argmax())
        else:
            rng = rng or np.random.default_rng()
            nxt = int(rng.choice(logits.shape[-1], p=softmax(logits[cursor] / temperature)))
        kids = [P + i for i, par in enumerate(tree_parents) if par == cursor]
        hit = [k for k in kids if ids[k] == nxt]
        if not hit:
            break
        cursor = hit[0]
        accepted.append(nxt)
    return {"accepted": accepted, "new_token": nxt, "num_accepted": len(accepted)}
