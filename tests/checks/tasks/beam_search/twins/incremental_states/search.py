# right: a model that starts on a prompt, and goes on from states that it gave
"""Length-normalised beam search over an incremental model.

Output layout
-------------
``batched_beam_search`` returns three arrays

* ``tokens``  int64 (B, K, T)  generated ids, filled with ``pad`` past the end,
* ``lengths`` int64 (B, K)     number of generated ids, an EOS included,
* ``scores``  float64 (B, K)   logprob / length ** alpha, decreasing along K,

with T = max_new_tokens.  If a prompt has fewer than K possible continuations the
spare slots have length 0 and score -inf.
"""

from typing import List, Optional, Sequence, Tuple

import numpy as np

from protocol import IncrementalLM, State


class Beam:
    """A partial or complete hypothesis and what is needed to go on from it."""

    __slots__ = ("ids", "logprob", "state", "next_logprobs", "done")

    def __init__(self, ids: Tuple[int, ...], logprob: float, state: State = None,
                 next_logprobs: Optional[np.ndarray] = None, done: bool = False):
        self.ids = ids
        self.logprob = logprob
        self.state = state
        self.next_logprobs = next_logprobs
        self.done = done


def normalised(logprob, length, alpha):
    """score = logprob / length ** alpha (vectorised; length >= 1)."""
    return logprob / np.power(np.asarray(length, dtype=np.float64), alpha)


def _search_one(model: IncrementalLM, prompt: Sequence[int], width: int,
                max_new_tokens: int, alpha: float, eos: Optional[int]) -> List[Beam]:
    """Beam search for one prompt; the final beams, best first."""
    state, logprobs = model.start(list(prompt))
    beams = [Beam((), 0.0, state, np.asarray(logprobs, dtype=np.float64))]

    for step in range(max_new_tokens):
        live = [b for b in beams if not b.done]
        if not live:
            break
        done = [b for b in beams if b.done]

        # Scores of the finished beams (own length) followed by those of all the
        # (beam, token) extensions (length step + 1): one ranking for both.
        totals = np.stack([b.logprob + b.next_logprobs for b in live])  # (n, V)
        vocab = totals.shape[1]
        finished_scores = np.array(
            [normalised(b.logprob, len(b.ids), alpha) for b in done], dtype=np.float64)
        pool = np.concatenate([finished_scores, normalised(totals, step + 1, alpha).ravel()])

        chosen = np.argsort(-pool, kind="stable")[:width]
        last_round = step + 1 == max_new_tokens
        survivors = []
        for index in chosen:
            if pool[index] == -np.inf:
                break
            if index < len(done):
                survivors.append(done[index])
                continue
            row, token = divmod(int(index) - len(done), vocab)
            parent = live[row]
            child = Beam(parent.ids + (token,), float(totals[row, token]), done=token == eos)
            if not child.done and not last_round:
                # Only survivors pay for a model call.
                child.state, following = model.advance(parent.state, token)
                child.next_logprobs = np.asarray(following, dtype=np.float64)
            survivors.append(child)
        beams = survivors

    return beams


def batched_beam_search(
    model: IncrementalLM,
    prompts: Sequence[Sequence[int]],
    beam_width: int,
    max_new_tokens: int,
    alpha: float = 0.6,
    eos_token_id: Optional[int] = None,
    pad: int = -1,
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decode all prompts; see the module docstring for the three arrays."""
    if beam_width < 1 or max_new_tokens < 0:
        raise ValueError("beam_width >= 1 and max_new_tokens >= 0 are required")

    shape = (len(prompts), beam_width)
    tokens = np.full(shape + (max_new_tokens,), pad, dtype=np.int64)
    lengths = np.zeros(shape, dtype=np.int64)
    scores = np.full(shape, -np.inf)

    for b, prompt in enumerate(prompts):
        beams = _search_one(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id)
        for k, beam in enumerate(beams):
            n = len(beam.ids)
            tokens[b, k, :n] = beam.ids
            lengths[b, k] = n
            scores[b, k] = normalised(beam.logprob, n, alpha) if n else 0.0
    return tokens, lengths, scores
