# bug: of several refused siblings only the last one is taken out of the distribution
# caught by: distribution
# passes: golden, tree_mask
"""Speculative decoding with a draft tree: mask, verification, a target to try it on."""

from dataclasses import dataclass
import random
import numpy as np


@dataclass
class VerifyResult:
    accepted: list
    new_token: int


class BigramTarget:
    def __init__(self, vocab_size=11, seed=5):
        self.weights = np.random.default_rng(seed).normal(size=(vocab_size, vocab_size)) * 2

    def __call__(self, token_ids, attn_mask):
        ids = np.asarray(token_ids)
        seen = attn_mask.astype(float) / attn_mask.sum(axis=1, keepdims=True)
        return self.weights[ids] + seen @ self.weights[ids]


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.zeros((size, size), dtype=bool)
    for i in range(prompt_len):
        mask[i, : i + 1] = True
    for node, parent in enumerate(tree_parents):
        i = prompt_len + node
        mask[i] = mask[prompt_len + parent] if parent >= 0 else False
        mask[i, :prompt_len] = True
        mask[i, i] = True
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=1.0):
    P = len(prompt)
    logits = target_model(list(prompt) + list(tree_tokens), build_tree_mask(P, tree_parents))
    path = []
    at = -1
    while True:
        z = np.asarray(logits[P - 1 if at == -1 else P + at], dtype=float)
        kids = [i for i, p in enumerate(tree_parents) if p == at]
        if temperature == 0:
            want = int(z.argmax())
            match = [i for i in kids if tree_tokens[i] == want]
            if not match:
                return VerifyResult(path, want)
            at = match[0]
            path.append(want)
            continue
        p = np.exp((z - z.max()) / temperature)
        p /= p.sum()
        q = p
        chosen = None
        for i in kids:
            tok = tree_tokens[i]
            if random.random() < q[tok]:
                chosen = i
                break
            rest = p.copy()
            rest[tok] = 0.0
            q = rest / rest.sum() if rest.sum() > 0 else p
        if chosen is None:
            return VerifyResult(path, random.choices(range(len(q)), weights=q)[0])
        path.append(int(tree_tokens[chosen]))
        at = chosen
