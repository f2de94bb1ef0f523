# style: functions take a model and a prompt, and go on with the state that this gives; the state takes chunks, too
# only: incremental_equals_full, chunked_prefill, capacity
# warns: capacity (its window forgets, as it says)
import numpy as np


class NewestRows:
    """Keys and values of the newest tokens, in a ring of slots."""

    def __init__(self, window, width):
        self.rows, self.at, self.next = np.zeros((2, window, width)), np.full(window, -1), 0

    def write(self, first, kv):
        size, count = len(self.at), kv.shape[1]
        kept = min(size, count)
        slots = (self.next + np.arange(kept)) % size
        self.rows[:, slots], self.at[slots] = kv[:, count - kept :], first + count - kept + np.arange(kept)
        self.next = (self.next + kept) % size


class WindowLM:
    def __init__(self, vocab=40, width=16, depth=2, window=8, seed=2):
        draw = np.random.default_rng(seed)
        self.words, self.width, self.window = draw.normal(size=(vocab, width)), width, window
        self.mats = draw.normal(size=(depth, 4, width, width)) / np.sqrt(width)


class Running:
    """A text that goes on."""

    def __init__(self, model):
        self.model, self.count = model, 0
        self.rings = [NewestRows(model.window, model.width) for _ in model.mats]

    def feed(self, tokens):
        model, place = self.model, self.count + np.arange(len(tokens))
        x = model.words[np.asarray(tokens)] + np.cos(place[:, None] / (1 + np.arange(model.width)))
        for ring, (wq, wk, wv, wo) in zip(self.rings, model.mats):
            kv, held = np.stack([x @ wk, x @ wv]), ring.at >= 0
            (k, v), at = np.concatenate([ring.rows[:, held], kv], 1), np.concatenate([ring.at[held], place])
            ring.write(self.count, kv)
            back = place[:, None] - at
            scores = np.where((back >= 0) & (back < model.window), x @ wq @ k.T / np.sqrt(model.width), -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + p / p.sum(-1, keepdims=True) @ v @ wo
        self.count += len(tokens)
        return x @ model.words.T


def prefill(model, prompt):
    state = Running(model)
    return state.feed(prompt)[-1], state


def decode_step(state, token):
    return state.feed([token])[-1]
