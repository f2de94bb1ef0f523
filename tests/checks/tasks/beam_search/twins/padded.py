# passes: purity
# right: one padded call per step for the whole batch, the model built inside
"""Batched over a right-padded array; the model is a class of this file, built inside."""
import numpy as np

PAD = 0


class TinyLM:
    def __init__(self, vocab=32, dim=8, seed=0):
        rng = np.random.default_rng(seed)
        self.vocab = vocab
        self.emb = rng.standard_normal((vocab, dim))
        self.out = rng.standard_normal((dim, vocab))

    def forward(self, ids):
        return np.cumsum(self.emb[np.asarray(ids) % self.vocab], axis=1) @ self.out


def log_softmax(x):
    m = x.max(axis=-1, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(axis=-1, keepdims=True))


def normalise(total, length, alpha):
    return total / (length ** alpha) if length > 0 else total


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha=0.0, eos_token_id=1):
    lm = TinyLM()
    n = len(prompts)
    state = [[{"tokens": [], "logprob": 0.0, "done": False}] for _ in range(n)]
    for _ in range(max_new_tokens):
        todo = [(i, b) for i in range(n) for b in state[i] if not b["done"]]
        if not todo:
            break
        seqs = [list(prompts[i]) + b["tokens"] for i, b in todo]
        lens = [len(s) for s in seqs]
        ids = np.full((len(seqs), max(lens)), PAD, dtype=np.int64)
        for row, s in enumerate(seqs):
            ids[row, : len(s)] = s
        logits = np.asarray(lm.forward(ids), dtype=np.float64)
        last = log_softmax(logits[np.arange(len(seqs)), np.array(lens) - 1])
        grown = [[b for b in beams if b["done"]] for beams in state]
        for (i, b), row in zip(todo, last):
            k = min(2 * beam_width, row.size)
            for token in np.argpartition(-row, k - 1)[:k]:
                total = b["logprob"] + row[token]
                grown[i].append({"tokens": b["tokens"] + [int(token)], "logprob": float(total), "done": int(token) == eos_token_id})
        for i in range(n):
            grown[i].sort(key=lambda b: normalise(b["logprob"], len(b["tokens"]), alpha), reverse=True)
            state[i] = grown[i][:beam_width]
    return [
        [{"tokens": b["tokens"], "score": normalise(b["logprob"], len(b["tokens"]), alpha), "logprob": b["logprob"], "finished": b["done"]}
         for b in beams]
        for beams in state
    ]
