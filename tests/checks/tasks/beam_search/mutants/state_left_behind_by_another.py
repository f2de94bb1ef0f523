# bug: what the model has read is one list for all beams: each goes on from what the one before it left behind
# caught by: exhaustive_optimum
# passes: greedy_equivalence
# only: exhaustive_optimum, greedy_equivalence
import numpy as np


def log_softmax(rows):
    rows = np.asarray(rows, dtype=np.float64)
    top = rows.max(axis=-1, keepdims=True)
    return rows - top - np.log(np.exp(rows - top).sum(axis=-1, keepdims=True))


class Slots:
    """K places of one prompt: texts, sums, and which of them are free."""

    def __init__(self, k):
        self.texts, self.sums, self.free = [()] * k, np.full(k, -np.inf), np.ones(k, dtype=bool)
        self.sums[0], self.free[0] = 0.0, False
        self.read = []

    def candidates(self, model, prompt):
        """Sums, slots and tokens of all that can follow, best first."""
        totals = []
        for slot, text in enumerate(self.texts):
            if not self.free[slot]:
                self.read += text[-1:]
                row = log_softmax(model(prompt + self.read)).ravel()
                totals += [(self.sums[slot] + value, slot, token) for token, value in enumerate(row.tolist())]
        return sorted(totals, key=lambda each: -each[0])

    def filled(self, chosen):
        new = Slots(len(self.texts))
        new.free[:], new.read = True, self.read
        for place, (total, slot, token) in enumerate(chosen):
            new.texts[place], new.sums[place], new.free[place] = (*self.texts[slot], token), total, False
        return new


class BeamSearch:
    def __init__(self, model):
        self.model = model

    def search(self, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
        return [self._one(list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]

    def _one(self, prompt, k, steps, alpha, eos):
        slots, ended = Slots(k), []
        for _ in range(steps):
            if slots.free.all():
                break
            ranked = slots.candidates(self.model, prompt)
            for rank, (total, slot, token) in enumerate(ranked[:k]):
                if token == eos and not slots.free[slot]:
                    ended.append(((*slots.texts[slot], token), total))
            slots = slots.filled([each for each in ranked if each[2] != eos][:k])
        live = [(text, total) for text, total in zip(slots.texts, slots.sums.tolist()) if total > -np.inf]
        scored = [{"tokens": list(text), "score": total / max(len(text), 1) ** alpha} for text, total in ended + live]
        return sorted(scored, key=lambda hyp: hyp["score"], reverse=True)[:k]
