# style: frozen hypotheses in states per prompt, all prompts in one call of the model, which comes first
"""
Batched beam search with length normalisation
=============================================

``batched_beam_search`` decodes several prompts at once.  All live beams of all prompts go through the model
in a single call per step (they are padded on the left by the model wrapper when lengths differ).

Rules
-----
* score(h) = logprob(h) / len(h) ** alpha, with len = number of generated tokens, the EOS included;
* a hypothesis that produced EOS is *kept*: it competes with the live ones for the K slots on equal terms;
* within one search the *final* ranking is by penalised score; pruning between steps is by penalised score too,
  so that finished and live hypotheses are comparable;
* the search of one prompt stops when all its K hypotheses are finished.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Callable, List, Sequence, Tuple

import numpy as np

LogitsFn = Callable[[List[List[int]]], np.ndarray]


@dataclass(frozen=True)
class Hypothesis:
    tokens: Tuple[int, ...]
    logprob: float
    finished: bool = False

    def score(self, alpha: float) -> float:
        return self.logprob / (max(len(self.tokens), 1) ** alpha)


@dataclass
class PromptState:
    prompt: List[int]
    beams: List[Hypothesis] = field(default_factory=lambda: [Hypothesis((), 0.0)])

    @property
    def live(self) -> List[Hypothesis]:
        return [b for b in self.beams if not b.finished]

    @property
    def done(self) -> bool:
        return not self.live


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _expand(hyp: Hypothesis, logp: np.ndarray, eos: int, width: int) -> List[Hypothesis]:
    """The `width` best continuations of one live hypothesis (more can never survive)."""
    k = min(width, logp.shape[-1])
    top = np.argsort(-logp, kind="stable")[:k]
    return [
        Hypothesis(hyp.tokens + (int(t),), hyp.logprob + float(logp[t]), int(t) == eos)
        for t in top
        if np.isfinite(logp[t])
    ]


def batched_beam_search(
    model: LogitsFn,
    prompts: Sequence[Sequence[int]],
    beam_width: int,
    max_new_tokens: int,
    alpha: float,
    eos_token_id: int,
) -> List[List[Tuple[List[int], float]]]:
    """Returns, per prompt, up to ``beam_width`` pairs (generated tokens, score), best first."""
    if beam_width < 1:
        raise ValueError("beam_width must be at least 1")
    states = [PromptState(list(p)) for p in prompts]
    for _ in range(max_new_tokens):
        jobs = [(state, hyp) for state in states if not state.done for hyp in state.live]
        if not jobs:
            break
        logits = np.asarray(model([s.prompt + list(h.tokens) for s, h in jobs]), dtype=np.float64)
        logp = log_softmax(logits)
        children: dict[int, List[Hypothesis]] = {}
        for (state, hyp), row in zip(jobs, logp):
            children.setdefault(id(state), []).extend(_expand(hyp, row, eos_token_id, beam_width))
        for state in states:
            if id(state) not in children:
                continue
            pool = [b for b in state.beams if b.finished] + children[id(state)]
            pool.sort(key=lambda h: (-h.score(alpha), h.tokens))
            state.beams = pool[:beam_width]
    results = []
    for state in states:
        ranked = sorted(state.beams, key=lambda h: (-h.score(alpha), h.tokens))
        results.append([(list(h.tokens), h.score(alpha)) for h in ranked])
    return results


class TinyLM:
    """A deterministic random language model: logits depend on the last two tokens and the position."""

    def __init__(self, vocab_size: int = 20, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.vocab_size = vocab_size
        self.bigram = rng.normal(size=(vocab_size, vocab_size))
        self.skip = rng.normal(size=(vocab_size, vocab_size))

    def __call__(self, sequences: List[List[int]]) -> np.ndarray:
        out = np.empty((len(sequences), self.vocab_size))
        for i, s in enumerate(sequences):
            out[i] = self.bigram[s[-1]] + (self.skip[s[-2]] if len(s) > 1 else 0)
        return out


# --------------------------------------------------------------------------- tests
def _greedy(model, prompt, steps, eos):
    seq = list(prompt)
    for _ in range(steps):
        seq.append(int(np.argmax(model([seq])[0])))
        if seq[-1] == eos:
            break
    return seq[len(prompt):]


def test_greedy():
    lm = TinyLM()
    assert batched_beam_search(lm, [[1, 2]], 1, 8, 0.0, 0)[0][0][0] == _greedy(lm, [1, 2], 8, 0)


def test_batch_equals_solo():
    lm = TinyLM(seed=3)
    prompts = [[1, 2, 3], [4], [5, 6]]
    together = batched_beam_search(lm, prompts, 4, 6, 0.6, 0)
    alone = [batched_beam_search(lm, [p], 4, 6, 0.6, 0)[0] for p in prompts]
    assert [[t for t, _ in r] for r in together] == [[t for t, _ in r] for r in alone]


def test_finished_beam_survives():
    def model(seqs):
        rows = []
        for s in seqs:
            p = np.full(4, 1e-9)
            if len(s) == 1:
                p[0], p[1] = math.exp(-0.7), 1 - math.exp(-0.7)
            else:
                p[1:] = 1 / 3
            rows.append(np.log(p / p.sum()))
        return np.array(rows)

    best = batched_beam_search(model, [[2]], 2, 5, 0.0, 0)[0][0]
    assert best[0] == [0]


if __name__ == "__main__":
    for fn in (test_greedy, test_batch_equals_solo, test_finished_beam_survives):
        fn()
        print("ok", fn.__name__)
    lm = TinyLM(50, seed=1)
    for prompt, beams in zip([[3], [7, 8]], batched_beam_search(lm, [[3], [7, 8]], 3, 10, 0.7, 0)):
        print("prompt", prompt)
        for tokens, score in beams:
            print(f"   {score:8.4f}  {tokens}")
