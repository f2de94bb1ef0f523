# bug: a beam that ends is kept only where it is the best candidate of its step
# caught by: eos_retention, exhaustive_optimum
# only: eos_retention, exhaustive_optimum
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

    def candidates(self, model, prompt):
        """Sums, slots and tokens of all that can follow, best first."""
        totals = []
        for slot, text in enumerate(self.texts):
            if not self.free[slot]:
                row = log_softmax(model(prompt + list(text))).ravel()
                totals += [(self.sums[slot] + value, slot, token) for token, value in enumerate(row.tolist())]
        return sorted(totals, key=lambda each: -each[0])

    def filled(self, chosen):
        new = Slots(len(self.texts))
        new.free[:] = True
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
            for total, slot, token in ranked[:1]:
                if token == eos:
                    ended.append(((*slots.texts[slot], token), total))
            slots = slots.filled([each for each in ranked if each[2] != eos][:k])
        live = [(text, total) for text, total in zip(slots.texts, slots.sums.tolist()) if total > -np.inf]
        scored = [{"tokens": list(text), "score": total / max(len(text), 1) ** alpha} for text, total in ended + live]
        return sorted(scored, key=lambda hyp: hyp["score"], reverse=True)[:k]
