# style: a prompt goes on in the free lane that begins most like it
# only: incremental_equals_full, growth
import numpy as np


class Lane:
    def __init__(self, number):
        self.number, self.tokens, self.taken = number, [], False


class LaneServer:
    """Conversations in lanes; a prompt goes to the free lane that begins most like it, and goes on there."""

    def __init__(self, vocab=40, width=16, lanes=4, reach=96, seed=4):
        draw = np.random.default_rng(seed)
        self.words, self.places = draw.normal(size=(vocab, width)), draw.normal(size=(reach, width))
        self.wq, self.wk, self.wv, self.wo = draw.normal(size=(4, width, width)) / np.sqrt(width)
        self.k, self.v = np.zeros((2, lanes, reach, width))
        self.lanes = [Lane(number) for number in range(lanes)]

    def _go_on(self, lane, ids):
        first, last = len(lane.tokens), len(lane.tokens) + len(ids)
        if last > self.places.shape[0]:
            raise ValueError("no more places")
        x = self.words[ids] + self.places[first:last]
        self.k[lane.number, first:last], self.v[lane.number, first:last] = x @ self.wk, x @ self.wv
        lane.tokens = [*lane.tokens, *ids]
        s = (x @ self.wq) @ self.k[lane.number, :last].T / np.sqrt(x.shape[1])
        s[np.arange(last) > np.arange(first, last)[:, None]] = -np.inf
        p = np.exp(s - s.max(axis=1, keepdims=True))
        out = x + p / p.sum(axis=1, keepdims=True) @ self.v[lane.number, :last] @ self.wo
        return out[-1] @ self.words.T

    @staticmethod
    def _alike(one, two):
        return next((n for n, (a, b) in enumerate(zip(one, two)) if a != b), min(len(one), len(two)))

    def prefill(self, prompt):
        """Logits behind a prompt, and its lane."""
        prompt = [int(token) for token in prompt]
        free = [lane for lane in self.lanes if not lane.taken]
        if not free:
            raise RuntimeError("every lane is taken")
        lane = max(free, key=lambda lane: self._alike(lane.tokens, prompt))
        lane.taken = True
        known = min(self._alike(lane.tokens, prompt), len(prompt) - 1)
        lane.tokens = prompt[:known]
        return self._go_on(lane, prompt[known:]), lane

    def decode(self, token, lane):
        """Logits behind one token more."""
        return self._go_on(lane, [int(token)])

    def release(self, lane):
        """The conversation is over; its lane keeps what it has until it is taken."""
        lane.taken = False
