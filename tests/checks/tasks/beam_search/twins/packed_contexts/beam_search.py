# right: the model gets all contexts one behind the other, with their bounds
"""Batched beam search with length normalisation.

    batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id)

The pool of a prompt holds at most ``beam_width`` hypotheses, finished or not.  In each
step

1. all unfinished hypotheses of *all* prompts go through the model in one call,
2. each of them offers its ``beam_width`` best continuations,
3. each finished hypothesis offers itself, unchanged,
4. the ``beam_width`` best offers by ``logprob / length ** alpha`` become the new pool.

Taking only the ``beam_width`` best continuations of a hypothesis loses nothing: its
continuations all have the same length, so by score they rank as they do by logprob,
and the pool has room for no more than ``beam_width``.
"""

import heapq
from typing import Dict, List, NamedTuple, Union

import numpy as np

from minimal_lm import MinimalLM
from trellis import ROOT, Hypothesis, Trellis

BeamDict = Dict[str, Union[List[int], float, bool]]


class _Offer(NamedTuple):
    """A candidate for the next pool; only the winners get a trellis node."""

    score: float
    order: int              # position in the offering order, breaks ties
    parent: Hypothesis
    token: int              # -1: the parent itself, which has finished
    logprob: float


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    x = np.asarray(logits, dtype=np.float64)
    x = x - np.max(x, axis=1, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))


def _pack(sequences: List[List[int]]):
    """Concatenate sequences into (tokens, cu_seqlens)."""
    cu = np.zeros(len(sequences) + 1, dtype=np.int64)
    cu[1:] = np.cumsum([len(s) for s in sequences])
    flat = [tok for seq in sequences for tok in seq]
    return np.asarray(flat, dtype=np.int64), cu


class _PromptSearch:
    """The state of one prompt: its trellis and its pool."""

    def __init__(self, prompt: List[int], width: int, alpha: float, eos: int) -> None:
        self.prompt = list(prompt)
        self.width, self.alpha, self.eos = width, alpha, eos
        self.trellis = Trellis()
        self.pool = [Hypothesis(ROOT, 0.0, 0, False)]

    def live(self) -> List[Hypothesis]:
        return [h for h in self.pool if not h.finished]

    def context(self, hyp: Hypothesis) -> List[int]:
        return self.prompt + self.trellis.tokens(hyp.node)

    def advance(self, logp_rows: np.ndarray) -> None:
        """Form the next pool. ``logp_rows`` follows the order of ``live()``."""
        offers: List[_Offer] = []
        rows = iter(logp_rows)
        for hyp in self.pool:
            if hyp.finished:
                offers.append(_Offer(hyp.score(self.alpha), len(offers), hyp, -1, hyp.logprob))
                continue
            logp = next(rows)
            norm = (hyp.length + 1) ** self.alpha
            for token in np.argsort(-logp, kind="stable")[: self.width]:
                total = hyp.logprob + float(logp[token])
                if total == -np.inf:
                    break                       # forbidden, and so is all that follows
                offers.append(_Offer(total / norm, len(offers), hyp, int(token), total))

        best = heapq.nsmallest(self.width, offers, key=lambda o: (-o.score, o.order))
        self.pool = [self._accept(offer) for offer in best]

    def _accept(self, offer: _Offer) -> Hypothesis:
        if offer.token < 0:
            return offer.parent
        node = self.trellis.add(offer.parent.node, offer.token)
        return Hypothesis(node, offer.logprob, offer.parent.length + 1, offer.token == self.eos)

    def results(self) -> List[BeamDict]:
        ranked = sorted(self.pool, key=lambda h: -h.score(self.alpha))
        return [
            {
                "tokens": self.trellis.tokens(h.node),
                "score": h.score(self.alpha),
                "logprob": h.logprob,
                "finished": h.finished,
            }
            for h in ranked
        ]


def batched_beam_search(
    prompts: List[List[int]],
    beam_width: int,
    max_new_tokens: int,
    alpha: float,
    eos_token_id: int,
) -> List[List[BeamDict]]:
    """Search all prompts together.

    Returns one list per prompt, best first, of dicts with the keys ``tokens``
    (generated only; a finished one ends with EOS), ``score``, ``logprob`` and
    ``finished``.  The list has ``beam_width`` entries unless the vocabulary does not
    admit that many different sequences.
    """
    if beam_width <= 0:
        raise ValueError(f"beam_width must be positive, got {beam_width}")
    if max_new_tokens < 0:
        raise ValueError(f"max_new_tokens must be >= 0, got {max_new_tokens}")

    model = MinimalLM()
    searches = [_PromptSearch(p, beam_width, alpha, eos_token_id) for p in prompts]

    for _ in range(max_new_tokens):
        work = [(s, s.live()) for s in searches]
        work = [(s, live) for s, live in work if live]
        if not work:
            break
        contexts = [s.context(h) for s, live in work for h in live]
        logp = _log_softmax(model.next_logits(*_pack(contexts)))

        start = 0
        for search, live in work:
            search.advance(logp[start:start + len(live)])
            start += len(live)

    return [s.results() for s in searches]


if __name__ == "__main__":
    for i, beams in enumerate(batched_beam_search([[1, 2, 3], [4]], 4, 10, 0.6, 0)):
        print(f"prompt {i}")
        for beam in beams:
            print(f"  {beam['score']:+.4f}  finished={beam['finished']}  {beam['tokens']}")
