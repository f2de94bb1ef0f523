"""Minimal autoregressive language model for exercising beam search."""

import numpy as np


def log_softmax(logits):
    """Numerically stable log-softmax over the last axis."""
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


class MinimalLM:
    """
    One causal self-attention layer between an embedding and an output matrix.

    Weights are random but fixed by the seed. The model is not trained; it only
    has to be deterministic and to depend on the whole prefix.
    """

    def __init__(self, vocab_size, d_model=32, max_len=128, seed=0):
        rng = np.random.default_rng(seed)
        self.vocab_size = vocab_size
        self.d_model = d_model

        def weight(*shape):
            return rng.standard_normal(shape) / np.sqrt(d_model)

        self.token_embedding = rng.standard_normal((vocab_size, d_model))
        self.position_embedding = 0.5 * rng.standard_normal((max_len, d_model))
        self.W_q = weight(d_model, d_model)
        self.W_k = weight(d_model, d_model)
        self.W_v = weight(d_model, d_model)
        self.W_o = weight(d_model, d_model)
        self.W_out = weight(d_model, vocab_size)

    def forward(self, token_ids):
        """
        Run the model on one sequence.

        Args:
            token_ids: 1-D sequence of token ids

        Returns:
            logits of shape (seq_len, vocab_size)
        """
        ids = np.asarray(token_ids, dtype=np.int64)
        x = self.token_embedding[ids] + self.position_embedding[: len(ids)]

        # Only the last position is needed to predict the next token, so only
        # its query is computed. It may see every position: causal by itself.
        q = x[-1] @ self.W_q
        k = x @ self.W_k
        v = x @ self.W_v
        weights = np.exp(log_softmax(k @ q / np.sqrt(self.d_model)))
        hidden = x[-1] + (weights @ v) @ self.W_o
        return hidden @ self.W_out

    def get_log_probs(self, token_ids):
        """Log-probabilities of the next token, shape (vocab_size,)."""
        return log_softmax(self.forward(token_ids))
