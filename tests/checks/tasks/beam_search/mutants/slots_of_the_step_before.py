# bug: where fewer beams go on than there are slots, the others keep the beams of the step before
# caught by: edge_cases
import numpy as np


class Slots:
    """Room for the live beams of one prompt."""

    def __init__(self, width):
        self.tokens = [[] for _ in range(width)]
        self.sums = np.full(width, -np.inf)
        self.sums[0] = 0.0

    @property
    def live(self):
        return [slot for slot, total in enumerate(self.sums) if total > -np.inf]


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [_search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def _search(model, prompt, width, steps, alpha, eos):
    def rank(tokens, total):
        return total / max(len(tokens), 1) ** alpha

    slots, ended = Slots(width), []
    for _ in range(steps):
        found = []
        for slot in slots.live:
            row = model.get_log_probs(prompt + slots.tokens[slot])
            for token, value in enumerate(row):
                if value > -np.inf:
                    found.append((slots.tokens[slot] + [token], slots.sums[slot] + float(value)))
        found += ended
        found.sort(key=lambda beam: -rank(*beam))
        kept = found[:width]
        ended = [beam for beam in kept if beam[0][-1] == eos]
        going = [beam for beam in kept if beam[0][-1] != eos]
        for slot, (tokens, total) in enumerate(going):
            slots.tokens[slot], slots.sums[slot] = tokens, total
        if len(ended) == width:
            break
    beams = ended + [(slots.tokens[slot], slots.sums[slot]) for slot in slots.live]
    beams.sort(key=lambda beam: -rank(*beam))
    return [(tokens, float(rank(tokens, total))) for tokens, total in beams[:width]]
