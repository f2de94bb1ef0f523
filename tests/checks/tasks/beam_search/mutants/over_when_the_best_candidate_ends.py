# bug: with K ended the search is over as soon as the best candidate of a step ends, and live beams are forgotten
# caught by: eos_retention
# passes: greedy_equivalence
# only: eos_retention, greedy_equivalence
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
            for rank, (total, slot, token) in enumerate(ranked[:k]):
                if token == eos and not slots.free[slot]:
                    ended.append(((*slots.texts[slot], token), total))
            if len(ended) >= k and ranked[0][2] == eos:
                slots.free[:], slots.sums[:] = True, -np.inf
                break
            slots = slots.filled([each for each in ranked if each[2] != eos][:k])
        live = [(text, total) for text, total in zip(slots.texts, slots.sums.tolist()) if total > -np.inf]
        scored = [{"tokens": list(text), "score": total / max(len(text), 1) ** alpha} for text, total in ended + live]
        return sorted(scored, key=lambda hyp: hyp["score"], reverse=True)[:k]
