# style: the prompt's length is called prefix, every path is followed from its root, one sample per row
"""Every root-to-leaf path is scored, the longest right beginning wins (greedy)."""
import numpy as np


def attention_mask(prefix, parents):
    n = len(parents)
    m = np.zeros((prefix + n, prefix + n), dtype=np.int8)
    for i in range(prefix):
        m[i, : i + 1] = 1
    for k in range(n):
        m[prefix + k, :prefix] = 1
        for a in chain(k, parents):
            m[prefix + k, prefix + a] = 1
    return m.astype(bool)


def chain(k, parents):
    up = []
    while k != -1:
        up.append(k)
        k = parents[k]
    return up[::-1]


def accept(prompt, nodes, parents, model, temperature=0.0, seed=None):
    P = len(prompt)
    logits = np.asarray(model(list(prompt) + list(nodes), attention_mask(P, parents)), dtype=float)
    rng = np.random.default_rng(seed)
    if temperature > 0:
        noise = rng.gumbel(size=logits.shape)
        pick = (logits / temperature + noise).argmax(-1)   # one sample of the target per row
    else:
        pick = logits.argmax(-1)
    best = []
    for leaf in range(len(nodes)):
        path = chain(leaf, parents)
        good = []
        for node in path:
            row = P + good[-1] if good else P - 1
            if nodes[node] != pick[row]:
                break
            good.append(node)
        if len(good) > len(best):
            best = good
    row = P + best[-1] if best else P - 1
    return dict(accepted=[int(nodes[i]) for i in best], new_token=int(pick[row]), count=len(best))
