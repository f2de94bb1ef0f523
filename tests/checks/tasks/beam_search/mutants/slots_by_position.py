# bug: beams that go on take the prompts of the first slots, not their own, once one has finished
# caught by: batch_independence
# passes: greedy_equivalence
"""Vectorised batched beam search.

Beams of all prompts are rows of flat arrays: slot ``b * K + k`` is beam k of
prompt b.  One model call per step covers every slot that still needs one;
finished hypotheses keep their slot (and score) without being sent to the model.
"""

from __future__ import annotations

import numpy as np


class BigramModel:
    """Reference model: the next token depends on the last one."""

    def __init__(self, vocab_size, seed=0, temperature=1.0):
        z = np.random.default_rng(seed).normal(size=(vocab_size, vocab_size)) / temperature
        self.table = z - np.log(np.exp(z).sum(axis=1, keepdims=True))

    def __call__(self, sequences):
        """sequences: list of token lists -> (len(sequences), V) log-probabilities."""
        return self.table[[s[-1] for s in sequences]]


def _top(scores, k):
    """Indices of the k largest per row, ties to the lower index."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha=0.6, eos_token_id=0):
    """Decode all prompts together.

    model           callable: list of n token lists -> (n, V) log-probabilities
    prompts         list of token lists, of any lengths
    beam_width      K, hypotheses kept per prompt
    max_new_tokens  upper limit of generated tokens
    alpha           score = logprob / length ** alpha, length counts generated
                    tokens including EOS

    Returns a list (per prompt) of lists of dicts with ``tokens`` (EOS removed),
    ``score``, ``logprob`` and ``finished``, best first.
    """
    K, B = int(beam_width), len(prompts)
    if K < 1:
        raise ValueError("beam_width must be at least 1")
    if B == 0:
        return []
    prompts = [[int(t) for t in p] for p in prompts]

    history = np.zeros((B, K, max_new_tokens), dtype=np.int64)
    logprob = np.full((B, K), -np.inf)
    logprob[:, 0] = 0.0
    length = np.zeros((B, K), dtype=np.int64)
    done = np.zeros((B, K), dtype=bool)
    slot_owner = np.repeat(np.arange(B), K)

    for step in range(max_new_tokens):
        live = np.flatnonzero(~done)
        if live.size == 0:
            break
        owner = slot_owner[: live.size]
        generated = history.reshape(B * K, -1)[live, :step]
        batch = [prompts[b] + row.tolist() for b, row in zip(owner, generated)]
        step_lp = np.asarray(model(batch), dtype=np.float64)
        V = step_lp.shape[-1]

        # Column V is the "stay as you are" move of finished hypotheses.
        total = np.full((B * K, V + 1), -np.inf)
        total[live, :V] = logprob.reshape(-1)[live, None] + step_lp
        total[done.reshape(-1), V] = logprob[done]
        new_length = (length + ~done).reshape(-1, 1)
        ranked = total / new_length.astype(np.float64) ** alpha

        total = total.reshape(B, -1)
        pick = _top(ranked.reshape(B, -1), K)
        parent, token = pick // (V + 1), pick % (V + 1)
        moved = token < V

        history = np.take_along_axis(history, parent[:, :, None], axis=1)
        history[:, :, step] = np.where(moved, token, eos_token_id)
        length = np.take_along_axis(length, parent, axis=1) + moved
        done = np.take_along_axis(done, parent, axis=1) | (moved & (token == eos_token_id))
        logprob = np.take_along_axis(total, pick, axis=1)

    return [_collect(history[b], logprob[b], length[b], done[b], alpha) for b in range(B)]


def _collect(history, logprob, length, done, alpha):
    """Turn the slots of one prompt into sorted hypotheses."""
    score = logprob / np.maximum(length, 1).astype(np.float64) ** alpha
    out = []
    for k in np.argsort(-score, kind="stable"):
        if logprob[k] == -np.inf:
            continue  # an unused slot
        tokens = history[k, : length[k]].tolist()
        out.append(
            {
                "tokens": tokens[:-1] if done[k] else tokens,
                "score": float(score[k]),
                "logprob": float(logprob[k]),
                "finished": bool(done[k]),
            }
        )
    return out


# ------------------------------------------------------------------ self-tests
