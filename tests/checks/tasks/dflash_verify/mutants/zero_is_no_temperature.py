# bug: temperature 0 is false, so that 1.0 is used and tokens are sampled
# caught by: parent_logits, golden
import numpy as np

rng = np.random.default_rng(0)


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(n, dtype=bool)
    for i, p in enumerate(tree_parents):
        if p >= 0:
            mask[prompt_len + i] |= mask[prompt_len + p]
    return mask


def pick(logits, temperature):
    temperature = temperature or 1.0
    z = np.asarray(logits) / temperature
    p = np.exp(z - z.max())
    return int(rng.choice(len(p), p=p / p.sum()))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    accepted, node = [], -1
    while True:
        want = pick(logits[P + node], temperature)
        hit = [i for i, p in enumerate(tree_parents) if p == node and tree_tokens[i] == want]
        if not hit:
            return accepted, want
        node = hit[0]
        accepted.append(want)
