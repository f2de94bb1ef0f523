# bug: rows of the cache are put into order by the parents of the step before as well
# caught by: exhaustive_optimum
# passes: greedy_equivalence
"""Beam search with a cache of what the model has read: a row a beam, put into order by the parents."""

import numpy as np


class HistoryCache:
    """What was read for each beam, as rows that a model without state of its own is asked with."""

    def __init__(self, prompt):
        self.rows = [np.asarray(prompt, dtype=np.int64)]

    def reorder(self, parents):
        self.rows = [self.rows[parent] for parent in parents]

    def append(self, tokens):
        self.rows = [np.append(row, token) for row, token in zip(self.rows, tokens)]

    def ask(self, model, live):
        return {slot: np.asarray(model(self.rows[slot].tolist()), dtype=float) for slot in live}


class BeamDecoder:
    def __init__(self, model, beam_width, max_new_tokens, alpha, eos_token_id):
        self.model, self.width, self.steps = model, beam_width, max_new_tokens
        self.alpha, self.eos = alpha, eos_token_id

    def rank(self, entry):
        tokens, total = entry
        return total / len(tokens) ** self.alpha if tokens else total

    def ended(self, tokens):
        return bool(tokens) and tokens[-1] == self.eos

    def run(self, prompt):
        beams, cache = [((), 0.0)], HistoryCache(prompt)
        parents = [0]
        for _ in range(self.steps):
            live = [slot for slot, (tokens, _) in enumerate(beams) if not self.ended(tokens)]
            if not live:
                break
            rows = cache.ask(self.model, live)
            pool = []
            for slot, (tokens, total) in enumerate(beams):
                if slot not in rows:
                    pool.append((tokens, total, slot))
                    continue
                for token in np.argsort(-rows[slot])[: self.width + 1].tolist():
                    value = float(rows[slot][token])
                    if np.isfinite(value):
                        pool.append((tokens + (token,), total + value, slot))
            pool.sort(key=lambda entry: -self.rank(entry[:2]))
            pool = pool[: self.width]
            beams = [entry[:2] for entry in pool]
            # every slot of this step came out of these
            following = [slot for _, _, slot in pool]
            cache.reorder(
                [parents[slot] if slot < len(parents) else slot for slot in following]
                if len(parents) == len(following)
                else following
            )
            parents = following
            cache.append([tokens[-1] for tokens, _ in beams])
        return sorted(((list(t), self.rank((t, s))) for t, s in beams), key=lambda pair: -pair[1])


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    decoder = BeamDecoder(model, beam_width, max_new_tokens, alpha, eos_token_id)
    return [decoder.run(prompt) for prompt in prompts]
