"""The language model behind the search.

``beam_search`` creates one ``MinimalLM()`` per call and only uses ``next_logits``.
To search with another model, replace the name ``MinimalLM`` in the ``beam_search``
module by a class with the same method.

Sequences of a batch are passed *unpadded*, concatenated in one flat array with
cumulative offsets ("varlen" layout), so that no pad token can ever be attended to.
"""

import numpy as np


class MinimalLM:
    """A small fixed-weight recurrent model: decayed bag of embeddings -> logits."""

    vocab_size = 24
    width = 12
    decay = 0.6

    def __init__(self) -> None:
        rng = np.random.default_rng(1234)
        self.embed = rng.standard_normal((self.vocab_size, self.width))
        self.head = rng.standard_normal((self.width, self.vocab_size)) * 0.8
        self.bias = rng.standard_normal(self.vocab_size) * 0.3

    def next_logits(self, tokens: np.ndarray, cu_seqlens: np.ndarray) -> np.ndarray:
        """Logits of the token that follows each sequence.

        tokens:      (total,) int64, all sequences one after the other
        cu_seqlens:  (N + 1,) int64, sequence i is tokens[cu_seqlens[i]:cu_seqlens[i + 1]]
        returns:     (N, V) float logits (not normalised)
        """
        n = len(cu_seqlens) - 1
        hidden = np.zeros((n, self.width))
        for i in range(n):
            for tok in tokens[cu_seqlens[i]:cu_seqlens[i + 1]]:
                hidden[i] = self.decay * hidden[i] + self.embed[tok]
        return np.tanh(hidden) @ self.head + self.bias
