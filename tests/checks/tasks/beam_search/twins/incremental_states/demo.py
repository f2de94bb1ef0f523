"""Run: python demo.py -- a small Elman network decoded with three beams."""

import numpy as np

from search import batched_beam_search


class ElmanLM:
    """h' = tanh(W h + E[token]);  log-probs = log_softmax(U h')."""

    def __init__(self, vocab: int = 10, hidden: int = 24, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.embed = rng.normal(size=(vocab, hidden))
        self.recur = rng.normal(size=(hidden, hidden)) / np.sqrt(hidden)
        self.head = rng.normal(size=(vocab, hidden)) / np.sqrt(hidden) * 2.0

    def _read_out(self, h):
        z = self.head @ h
        z = z - z.max()
        return z - np.log(np.exp(z).sum())

    def start(self, prompt):
        h = np.zeros(self.recur.shape[0])
        for token in prompt:
            h = np.tanh(self.recur @ h + self.embed[token])
        return h, self._read_out(h)

    def advance(self, state, token):
        h = np.tanh(self.recur @ state + self.embed[token])
        return h, self._read_out(h)


if __name__ == "__main__":
    ids, lengths, scores = batched_beam_search(
        ElmanLM(), [[1, 2, 3], [4], []], beam_width=3, max_new_tokens=8,
        alpha=0.6, eos_token_id=0)
    for b in range(ids.shape[0]):
        for k in range(ids.shape[1]):
            print(b, k, f"{scores[b, k]:.4f}", ids[b, k, :lengths[b, k]].tolist())
