# bug: the table of penalties is of integers
# caught by: length_penalty
# passes: greedy_equivalence
"""Batched beam search for autoregressive models (NumPy).

    decoder = BeamDecoder(forward, eos_token_id=2)
    hyps = decoder.decode(prompts, beam_width=4, max_new_tokens=32, alpha=0.6)

`forward(list_of_sequences) -> (N, V)` logits (or log-probabilities) of the next token.
Rows are log-softmaxed here, which leaves normalised log-probabilities unchanged.
Finished hypotheses stay in the beam and compete with the extensions of live ones.
"""
from typing import Callable, Dict, List, Sequence

import numpy as np


def log_softmax(x: np.ndarray) -> np.ndarray:
    """Row-wise log-softmax in float64; -inf entries are allowed."""
    x = np.asarray(x, dtype=np.float64)
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def penalty_table(max_length: int, alpha: float) -> np.ndarray:
    """table[n] = n**alpha for n = 1..max_length; table[0] = 1 (empty sequence)."""
    lengths = np.arange(max_length + 1)
    table = np.ones_like(lengths)
    table[1:] = lengths[1:] ** alpha
    return table


class _Beam:
    """The K hypotheses of one prompt, kept sorted by accumulated log-probability."""

    def __init__(self, prompt: Sequence[int], width: int, eos: int):
        self.prompt = [int(t) for t in prompt]
        self.width, self.eos = width, eos
        self.tokens: List[List[int]] = [[]]
        self.logp = np.zeros(1)
        self.done = np.zeros(1, dtype=bool)

    def live(self) -> List[int]:
        """Slots that still grow."""
        return [int(i) for i in np.flatnonzero(~self.done)]

    def contexts(self) -> List[List[int]]:
        """Full sequences of the live slots, in slot order."""
        return [self.prompt + self.tokens[i] for i in self.live()]

    def advance(self, rows: np.ndarray) -> None:
        """Take next-token log-probs of the live slots and prune to the K best."""
        live, vocab = self.live(), rows.shape[1]
        held = np.flatnonzero(self.done)
        totals = np.concatenate([self.logp[held], (self.logp[live][:, None] + rows).ravel()])
        order = np.argsort(-totals, kind="stable")[: self.width]
        order = order[np.isfinite(totals[order])]
        tokens, done = [], []
        for c in order:
            if c < held.size:
                tokens.append(self.tokens[held[c]])
                done.append(True)
            else:
                slot, tok = divmod(int(c) - held.size, vocab)
                tokens.append(self.tokens[live[slot]] + [tok])
                done.append(tok == self.eos)
        self.tokens, self.logp, self.done = tokens, totals[order], np.array(done, dtype=bool)

    def ranked(self, penalty: np.ndarray) -> List[Dict]:
        """Hypotheses by score = logprob / len**alpha, best first."""
        lengths = np.array([len(t) for t in self.tokens], dtype=np.int64)
        scores = self.logp / penalty[lengths]
        return [
            {"tokens": list(self.tokens[i]), "score": float(scores[i]),
             "logprob": float(self.logp[i]), "finished": bool(self.done[i])}
            for i in np.argsort(-scores, kind="stable")
        ]


class BeamDecoder:
    """Runs many beams in lock step with one forward call per step."""

    def __init__(self, forward: Callable, eos_token_id: int):
        self.forward = forward
        self.eos_token_id = int(eos_token_id)

    def decode(self, prompts, beam_width: int, max_new_tokens: int, alpha: float = 0.6):
        """Per prompt a list of up to K dicts (tokens, score, logprob, finished)."""
        if beam_width < 1:
            raise ValueError("beam_width must be >= 1")
        beams = [_Beam(p, beam_width, self.eos_token_id) for p in prompts]
        for _ in range(max_new_tokens):
            active = [b for b in beams if not b.done.all()]
            if not active:
                break
            batch = [b.contexts() for b in active]
            rows = log_softmax(self.forward([s for group in batch for s in group]))
            start = 0
            for beam, group in zip(active, batch):
                beam.advance(rows[start:start + len(group)])
                start += len(group)
        penalty = penalty_table(max_new_tokens, alpha)
        return [b.ranked(penalty) for b in beams]


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, forward):
    """Functional front end of BeamDecoder."""
    return BeamDecoder(forward, eos_token_id).decode(prompts, beam_width, max_new_tokens, alpha)
