# right: positions between tokens and mask; rejected flags
# skips: distribution (greedy alone)
import math
import numpy as np

class MinimalTransformer:
    """1-layer attention LM."""
    def __init__(self, vocab_size, d_model=32, max_len=512, seed=0):
        r = np.random.RandomState(seed)
        self.d = d_model
        self.E = r.randn(vocab_size, d_model) * 0.5
        self.Pos = r.randn(max_len, d_model) * 0.1
        self.Wq = r.randn(d_model, d_model) / math.sqrt(d_model)
        self.Wk = r.randn(d_model, d_model) / math.sqrt(d_model)
        self.Wv = r.randn(d_model, d_model) / math.sqrt(d_model)
    def forward(self, tokens, positions, mask):
        x = self.E[tokens] + self.Pos[positions]
        s = (x @ self.Wq) @ (x @ self.Wk).T / math.sqrt(self.d)
        s = np.where(mask, s, -1e9)
        a = np.exp(s - s.max(axis=1, keepdims=True)); a /= a.sum(axis=1, keepdims=True)
        return (x + a @ (x @ self.Wv)) @ self.E.T

def get_depths(tree_parents):
    d = np.zeros(len(tree_parents), dtype=np.int64)
    for i, p in enumerate(tree_parents):
        d[i] = 0 if p < 0 else d[p] + 1
    return d

def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=np.bool_)
    idx = np.arange(prompt_len)
    mask[:prompt_len, :prompt_len] = idx[:, None] >= idx[None, :]
    if n:
        mask[prompt_len:, :prompt_len] = True
        anc = np.zeros((n, n), dtype=np.bool_)
        for i, p in enumerate(tree_parents):
            if p >= 0: anc[i] = anc[p]
            anc[i, i] = True
        mask[prompt_len:, prompt_len:] = anc
    return mask

def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature):
    prompt = np.asarray(prompt, dtype=np.int64); tree_tokens = np.asarray(tree_tokens, dtype=np.int64)
    P, N = len(prompt), len(tree_tokens)
    tokens = np.concatenate([prompt, tree_tokens])
    positions = np.concatenate([np.arange(P), P + get_depths(tree_parents)])
    logits = target_model.forward(tokens, positions, build_tree_mask(P, tree_parents))
    if temperature != 0:
        raise NotImplementedError("sampling is not there")
    pred = logits.argmax(axis=-1)
    accepted_idx = []
    rejected = np.zeros(N, dtype=bool)
    cur = -1
    for i in range(N):
        p = tree_parents[i]
        if p >= 0 and rejected[p]:
            rejected[i] = True; continue
        row = P - 1 if p < 0 else P + p
        if pred[row] != tree_tokens[i]:
            rejected[i] = True
    # longest surviving path
    best = []
    for i in range(N):
        if rejected[i]: continue
        path = []; j = i
        while j >= 0: path.append(j); j = tree_parents[j]
        if len(path) > len(best): best = path[::-1]
    last = P - 1 if not best else P + best[-1]
    return [int(tree_tokens[j]) for j in best], int(pred[last])
