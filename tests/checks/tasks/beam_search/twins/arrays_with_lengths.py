# right: arrays of sequences, scores and lengths; left-padded contexts with a mask
"""Batched beam search with fixed-shape NumPy tensors.

Every prompt owns ``beam_width`` rows, all prompts advance together, and one step
costs exactly one forward pass over ``batch * beam_width`` rows.  The model interface
is the usual "input_ids / attention_mask" one with LEFT padding:

    logits = model(input_ids, attention_mask)

    input_ids       (N, L) int64, padded on the left with ``pad_token_id``
    attention_mask  (N, L) int64, 1 for real tokens and 0 for padding
    logits          (N, V) float, un-normalised scores of the next token

Finished beams are not moved to a side list: they stay in the pool as a single
candidate that carries its score over unchanged, so a finished hypothesis can still be
pushed out by a better one that is going on, and the other way round.
"""

from __future__ import annotations

from typing import Callable, List, Sequence, Tuple

import numpy as np

ModelFn = Callable[[np.ndarray, np.ndarray], np.ndarray]
NEG_INF = -np.inf


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Row-wise log-softmax in float64 (``-inf`` logits mean forbidden tokens)."""
    logits = np.asarray(logits, dtype=np.float64)
    top = logits.max(axis=-1, keepdims=True)
    shifted = logits - top
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def length_normalise(logprob: np.ndarray, length: np.ndarray, alpha: float) -> np.ndarray:
    """``logprob / length ** alpha``; an empty sequence counts as length one."""
    return logprob / np.maximum(length, 1).astype(np.float64) ** alpha


def _left_pad(prompts: Sequence[Sequence[int]], pad: int) -> Tuple[np.ndarray, np.ndarray]:
    width = max(len(p) for p in prompts)
    ids = np.full((len(prompts), width), pad, dtype=np.int64)
    mask = np.zeros((len(prompts), width), dtype=np.int64)
    for row, prompt in enumerate(prompts):
        n = len(prompt)
        if n:
            ids[row, width - n:] = prompt
            mask[row, width - n:] = 1
    return ids, mask


def batched_beam_search(
    model: ModelFn,
    prompts: List[List[int]],
    beam_width: int,
    max_new_tokens: int,
    alpha: float,
    eos_token_id: int,
    pad_token_id: int = 0,
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Beam search over a batch of prompts of any lengths.

    Returns
    -------
    sequences : (B, K, max_new_tokens) int64
        Generated tokens only, best beam first.  Includes the EOS of a finished beam;
        everything from ``lengths[b, k]`` on is filler (``eos_token_id``).
    scores : (B, K) float64
        ``logprob / length ** alpha`` in descending order.
    lengths : (B, K) int64
        Number of valid tokens per beam, EOS included.

    Should fewer than K hypotheses exist (a tiny vocabulary with very few steps), the
    surplus beams at the end have length 0 and score ``-inf``.
    """
    if beam_width < 1:
        raise ValueError("beam_width must be at least 1")
    if max_new_tokens < 0:
        raise ValueError("max_new_tokens must not be negative")

    B, K, S = len(prompts), beam_width, max_new_tokens
    sequences = np.full((B, K, S), eos_token_id, dtype=np.int64)
    lengths = np.zeros((B, K), dtype=np.int64)
    logprobs = np.full((B, K), NEG_INF)
    logprobs[:, 0] = 0.0            # one real hypothesis per prompt, the others are dead
    done = np.zeros((B, K), dtype=bool)
    if B == 0:
        return sequences, logprobs, lengths

    prompt_ids, prompt_mask = _left_pad(prompts, pad_token_id)
    prompt_ids = np.repeat(prompt_ids, K, axis=0)
    prompt_mask = np.repeat(prompt_mask, K, axis=0)
    batch_index = np.arange(B)[:, None]

    for step in range(S):
        dead = np.isneginf(logprobs)
        if np.all(done | dead):
            break

        # ---- one forward pass for every beam of every prompt -------------------
        generated = sequences[:, :, :step].reshape(B * K, step)
        input_ids = np.concatenate([prompt_ids, generated], axis=1)
        attention_mask = np.concatenate(
            [prompt_mask, np.ones((B * K, step), dtype=np.int64)], axis=1
        )
        step_logp = log_softmax(model(input_ids, attention_mask))
        V = step_logp.shape[-1]
        step_logp = step_logp.reshape(B, K, V)

        # ---- candidate pool (B, K, V) ------------------------------------------
        cand_logp = logprobs[:, :, None] + step_logp
        # A finished beam contributes itself once (in column 0) and nothing else.
        cand_logp[done] = NEG_INF
        cand_logp[:, :, 0] = np.where(done, logprobs, cand_logp[:, :, 0])
        cand_len = np.where(done, lengths, lengths + 1)
        cand_score = length_normalise(cand_logp, cand_len[:, :, None], alpha)

        # ---- best K of the pool; the stable sort breaks ties by beam, then token
        flat_score = cand_score.reshape(B, K * V)
        chosen = np.argsort(-flat_score, axis=1, kind="stable")[:, :K]
        parent, token = chosen // V, chosen % V

        carried = done[batch_index, parent]
        new_logp = cand_logp.reshape(B, K * V)[batch_index, chosen]
        sequences = sequences[batch_index, parent]      # fancy indexing: a copy
        sequences[:, :, step] = np.where(carried, eos_token_id, token)
        lengths = cand_len[batch_index, parent]
        done = (carried | (token == eos_token_id)) & ~np.isneginf(new_logp)
        logprobs = new_logp

    dead = np.isneginf(logprobs)
    lengths[dead] = 0
    sequences[dead] = eos_token_id
    scores = length_normalise(logprobs, lengths, alpha)
    return sequences, scores, lengths


class BigramLM:
    """Tiny deterministic model for trying things out: logits from the last two tokens."""

    def __init__(self, vocab_size: int = 16, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.vocab_size = vocab_size
        self.last = rng.normal(size=(vocab_size + 1, vocab_size)) * 1.5
        self.prev = rng.normal(size=(vocab_size + 1, vocab_size)) * 0.7

    def forward(self, input_ids: np.ndarray, attention_mask: np.ndarray) -> np.ndarray:
        none = self.vocab_size      # row for "there is no such token"
        ids = np.where(attention_mask == 1, input_ids, none)
        pad = np.full((ids.shape[0], 2), none)
        ids = np.concatenate([pad, ids], axis=1)
        return self.last[ids[:, -1]] + self.prev[ids[:, -2]]


if __name__ == "__main__":
    lm = BigramLM()
    seqs, scores, lens = batched_beam_search(
        lm.forward, [[3, 4, 5], [7]], beam_width=3, max_new_tokens=8, alpha=0.7, eos_token_id=1
    )
    for b in range(len(seqs)):
        for k in range(3):
            print(b, f"{scores[b, k]:+.4f}", seqs[b, k, : lens[b, k]].tolist())
