# bug: a prompt is over once its best beam is decided, so that the other beams are cut short
# caught by: eos_retention (warn)
# passes: length_penalty, batch_independence, exhaustive_optimum, greedy_equivalence
"""Vectorised batched beam search.

    sequences, scores = batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model)

`model` is any object with ``score_next(ids, lengths) -> logits`` where `ids` is a right-padded (R, T) int array and
`lengths` (R,) gives the number of valid tokens in each row; the result holds one row of next-token logits per sequence.
"""

from __future__ import annotations

import numpy as np

NEG_INF = -np.inf


class BeamState:
    """State of all beams of all prompts, as arrays with leading axes (B, K)."""

    def __init__(self, prompts, beam_width, max_new_tokens):
        B, K = len(prompts), beam_width
        self.prompt_len = np.array([len(p) for p in prompts])
        width = int(self.prompt_len.max()) + max_new_tokens
        self.buffer = np.zeros((B, K, width), dtype=np.int64)
        for b, prompt in enumerate(prompts):
            self.buffer[b, :, : len(prompt)] = prompt
        self.cum = np.full((B, K), NEG_INF)
        self.cum[:, 0] = 0.0
        self.gen_len = np.zeros((B, K), dtype=np.int64)
        self.ended = np.zeros((B, K), dtype=bool)
        self.closed = np.zeros(B, dtype=bool)  # prompts whose search is over

    def scores(self, alpha):
        return self.cum / np.maximum(self.gen_len, 1) ** float(alpha)

    def active(self):
        """(B, K) mask of beams that still have to be extended."""
        return ~self.ended & np.isfinite(self.cum) & ~self.closed[:, None]

    def model_rows(self):
        """Padded ids and lengths of the active beams, plus their (b, k) coordinates."""
        b, k = np.nonzero(self.active())
        lengths = self.prompt_len[b] + self.gen_len[b, k]
        ids = self.buffer[b, k, : int(lengths.max())]
        return ids, lengths, b, k


def _log_softmax(logits):
    logits = np.asarray(logits, dtype=np.float64)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _advance(state: BeamState, logp_rows, b_rows, k_rows, alpha, eos):
    """Choose the new pool: extensions of live beams and finished beams, ranked together by normalised score."""
    B, K = state.cum.shape
    V = logp_rows.shape[-1]
    ext = np.full((B, K, V), NEG_INF)
    ext[b_rows, k_rows] = state.cum[b_rows, k_rows, None] + logp_rows
    ext_score = ext / (state.gen_len + 1)[:, :, None] ** float(alpha)
    kept_score = np.where(state.ended, state.scores(alpha), NEG_INF)

    table = np.concatenate([ext_score.reshape(B, K * V), kept_score], axis=1)
    order = np.argsort(-table, axis=1, kind="stable")[:, :K]

    for b in range(B):
        if state.closed[b]:
            continue
        buffer, cum = state.buffer[b].copy(), state.cum[b].copy()
        gen_len, ended = state.gen_len[b].copy(), state.ended[b].copy()
        for slot, index in enumerate(order[b]):
            if not np.isfinite(table[b, index]):
                state.cum[b, slot], state.ended[b, slot] = NEG_INF, False
                continue
            if index >= K * V:  # a finished beam stays as it is
                src = index - K * V
                state.buffer[b, slot] = buffer[src]
                state.cum[b, slot], state.gen_len[b, slot] = cum[src], gen_len[src]
                state.ended[b, slot] = True
            else:
                src, token = divmod(int(index), V)
                state.buffer[b, slot] = buffer[src]
                state.buffer[b, slot, state.prompt_len[b] + gen_len[src]] = token
                state.cum[b, slot] = ext[b, src, token]
                state.gen_len[b, slot] = gen_len[src] + 1
                state.ended[b, slot] = token == eos


def _close_decided(state: BeamState, alpha, max_new_tokens):
    """Stop prompts whose outcome can no longer change.

    A live beam can only lose log-probability, so its score is bounded by its present log-probability at the
    largest (alpha > 0) or the next (alpha <= 0) length it can reach.  Where no live beam can overtake the
    finished ones any more there is nothing left to search.
    """
    scores = state.scores(alpha)
    live = state.active()
    horizon = np.full(state.gen_len.shape, max_new_tokens) if alpha > 0 else state.gen_len + 1
    bound = np.where(live, state.cum / np.maximum(horizon, 1) ** float(alpha), NEG_INF).max(axis=1)
    finished = np.where(state.ended, scores, NEG_INF).max(axis=1)
    has_finished = state.ended.any(axis=1)
    state.closed |= ~live.any(axis=1) | (has_finished & (finished >= bound))


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """Batched beam search with length normalisation ``logprob / len ** alpha``.

    Returns ``(sequences, scores)``: ``sequences[b]`` is the list of K generated token lists for prompt b, best
    first, and ``scores[b]`` the matching list of floats.
    """
    if beam_width < 1:
        raise ValueError("beam_width must be >= 1")
    if not prompts:
        return [], []
    if min(len(p) for p in prompts) == 0:
        raise ValueError("empty prompt")
    state = BeamState(prompts, beam_width, max_new_tokens)

    for _ in range(max_new_tokens):
        if not state.active().any():
            break
        ids, lengths, b_rows, k_rows = state.model_rows()
        logp = _log_softmax(model.score_next(ids, lengths))
        _advance(state, logp, b_rows, k_rows, alpha, eos_token_id)
        _close_decided(state, alpha, max_new_tokens)

    final = state.scores(alpha)
    sequences, scores = [], []
    for b in range(len(prompts)):
        order = [k for k in np.argsort(-final[b], kind="stable") if np.isfinite(state.cum[b, k])]
        start = state.prompt_len[b]
        sequences.append([state.buffer[b, k, start : start + state.gen_len[b, k]].tolist() for k in order])
        scores.append([float(final[b, k]) for k in order])
    return sequences, scores


class HashLM:
    """Deterministic toy model whose logits depend on the whole sequence (for trying the search out)."""

    def __init__(self, vocab_size=10, seed=3):
        self.proj = np.random.default_rng(seed).normal(size=(17, vocab_size)) * 1.5

    def score_next(self, ids, lengths):
        out = []
        for row, n in zip(ids, lengths):
            h = 1
            for t in row[:n]:
                h = (h * 31 + int(t) + 7) % 1009
            out.append(self.proj[h % 17])
        return np.stack(out)
