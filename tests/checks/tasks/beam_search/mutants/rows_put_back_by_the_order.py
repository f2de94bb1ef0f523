# bug: prompts are asked by length, and their rows put back by the order itself in place of its inverse
# caught by: batch_independence, exhaustive_optimum
# passes: eos_retention, length_penalty
"""Batched beam search with length-bucketed model calls.

The model only understands rectangular input: ``model.forward(ids)`` with ids (n, L) int64 gives
log-probabilities of the next token, (n, V) (or (n, L, V), of which the last position is taken).
Live rows of all prompts are sorted by length, every run of equal lengths is one rectangle, and
no padding ever reaches the model.  Finished beams are not sent; they hold their slot by score.
"""
from typing import List, Sequence, Tuple

import numpy as np

Scored = Tuple[float, List[int]]


class LengthBucketedModel:
    """Turns ``forward`` on rectangles into ``next_log_probs`` on ragged rows."""

    def __init__(self, model):
        self._forward = model.forward if hasattr(model, "forward") else model
        self.calls = 0

    def next_log_probs(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        """(n ragged rows) -> (n, V), in the order of ``rows``."""
        lengths = np.array([len(row) for row in rows])
        order = np.argsort(lengths, kind="stable")
        cuts = np.flatnonzero(np.diff(lengths[order])) + 1
        parts = []
        for bucket in np.split(order, cuts):
            ids = np.array([rows[i] for i in bucket], dtype=np.int64)
            out = np.asarray(self._forward(ids), dtype=np.float64)
            parts.append(out[:, -1, :] if out.ndim == 3 else out)
            self.calls += 1
        return np.concatenate(parts)[order]


class Beam:
    """The K best hypotheses of one prompt, as parallel columns."""

    def __init__(self, prompt: Sequence[int], width: int, alpha: float, eos: int):
        self.prompt = [int(t) for t in prompt]
        self.width, self.alpha, self.eos = width, alpha, eos
        self.seqs: List[List[int]] = [[]]
        self.sums = np.zeros(1)
        self.open = np.ones(1, dtype=bool)

    def live(self) -> np.ndarray:
        """Indices of the hypotheses that still grow."""
        return np.flatnonzero(self.open)

    def rows(self) -> List[List[int]]:
        return [self.prompt + self.seqs[i] for i in self.live()]

    def scores(self) -> np.ndarray:
        lens = np.array([len(s) for s in self.seqs])
        return self.sums / np.maximum(lens, 1) ** float(self.alpha)

    def advance(self, logp: np.ndarray) -> None:
        """Grow live hypothesis number j by ``logp[j]`` and keep the best ``width`` of everything."""
        live, frozen = self.live(), np.flatnonzero(~self.open)
        V = logp.shape[1]
        grown = self.sums[live][:, None] + logp
        # all live rows have the same number of generated tokens
        steps = len(self.seqs[live[0]]) + 1
        keys = np.concatenate([self.scores()[frozen], grown.ravel() / steps ** float(self.alpha)])
        seqs, sums, is_open = [], [], []
        for c in np.argsort(-keys, kind="stable")[: self.width]:
            if keys[c] == -np.inf:
                break
            if c < len(frozen):
                i = frozen[c]
                seqs.append(self.seqs[i])
                sums.append(self.sums[i])
                is_open.append(False)
            else:
                j, token = divmod(int(c) - len(frozen), V)
                seqs.append(self.seqs[live[j]] + [token])
                sums.append(grown[j, token])
                is_open.append(token != self.eos)
        self.seqs, self.sums, self.open = seqs, np.array(sums), np.array(is_open, dtype=bool)

    def ranked(self) -> List[Scored]:
        s = self.scores()
        return [(float(s[i]), self.seqs[i]) for i in np.argsort(-s, kind="stable")]


def batched_beam_search(prompts: Sequence[Sequence[int]], beam_width: int, max_new_tokens: int,
                        alpha: float, eos_token_id: int, model) -> List[List[Scored]]:
    """Per prompt up to ``beam_width`` pairs (score, tokens), best first.

    score = logprob / len**alpha with EOS counted; tokens are the generated ones, with EOS.
    """
    bucketed = LengthBucketedModel(model)
    beams = [Beam(p, beam_width, alpha, eos_token_id) for p in prompts]
    for _ in range(max_new_tokens):
        running = [b for b in beams if b.open.any()]
        if not running:
            break
        counts = [len(b.live()) for b in running]
        logp = bucketed.next_log_probs([row for b in running for row in b.rows()])
        for beam, block in zip(running, np.split(logp, np.cumsum(counts)[:-1])):
            beam.advance(block)
    return [b.ranked() for b in beams]
