# passes: purity
# warns: eos_retention, edge_cases
# right: stops once no live beam can win, and fills the list up with the live ones; the model gives probabilities
import math


class Decoder:
    """A search that asks its model for next-token probabilities."""

    def __init__(self, lm, num_beams):
        self.lm = lm
        self.num_beams = num_beams

    def generate(self, prompts, max_new_tokens, length_penalty, eos_token_id):
        return {i: self._decode(tuple(p), max_new_tokens, length_penalty, eos_token_id) for i, p in enumerate(prompts)}

    def _decode(self, prompt, limit, alpha, eos):
        beams = [((), 0.0)]
        for step in range(limit):
            live = [b for b in beams if not b[0] or b[0][-1] != eos]
            ended = [b for b in beams if b[0] and b[0][-1] == eos]
            if not live:
                break
            # A live sum only falls, and its length is at most the limit.
            bound = max(total / limit ** alpha for _, total in live)
            if len(ended) >= 1 and max(self._score(b, alpha) for b in ended) >= bound:
                if step and all(self._score(e, alpha) >= bound for e in ended):
                    break
            grown = list(ended)
            for toks, total in live:
                probs = self.lm.next_token_probs(list(prompt + toks))
                ranked = sorted(range(len(probs)), key=lambda t: (-probs[t], t))[: 2 * self.num_beams]
                grown += [(toks + (t,), total + math.log(probs[t])) for t in ranked]
            grown.sort(key=lambda b: self._score(b, alpha), reverse=True)
            beams = grown[: self.num_beams]
        beams.sort(key=lambda b: self._score(b, alpha), reverse=True)
        return [{"ids": list(toks), "score": self._score((toks, total), alpha)} for toks, total in beams]

    @staticmethod
    def _score(beam, alpha):
        toks, total = beam
        return total / len(toks) ** alpha if toks else 0.0
