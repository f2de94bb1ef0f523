"""
Batched beam search with length penalty and correct EOS handling.

EOS retention
-------------
A beam that produces EOS is a complete hypothesis. Its log-probability is frozen
at that moment, while unfinished beams keep adding (negative) log-probabilities.
If finished beams were removed from the competition, a long and unlikely beam
could win merely because it had not stopped yet. Finished beams are therefore
kept in `finished_beams`, beside the live `beams`, and both lists are ranked
together at every step and at the end.
"""

import numpy as np


class Beam:
    """
    One hypothesis.

    accumulated_logprob is the plain sum of token log-probabilities. The length
    penalty never changes it; it only enters length_penalized_score().

    Attributes:
        tokens: generated tokens, without the prompt, including a final EOS
        accumulated_logprob: sum of the log-probabilities of `tokens`
        finished: True once EOS was generated
        score: final ranking score, set when the search is over
    """

    __slots__ = ("tokens", "accumulated_logprob", "finished", "score")

    def __init__(self, tokens, accumulated_logprob=0.0, finished=False):
        self.tokens = tokens
        self.accumulated_logprob = accumulated_logprob
        self.finished = finished
        self.score = None

    def length_penalized_score(self, alpha):
        """accumulated_logprob / length ** alpha, for ranking only."""
        length = len(self.tokens)
        if length == 0:
            return self.accumulated_logprob
        return self.accumulated_logprob / length**alpha

    def extend(self, token, logprob, eos_token_id):
        """A new beam with one more token; this one is left as it is."""
        return Beam(
            self.tokens + [token],
            self.accumulated_logprob + logprob,
            finished=(token == eos_token_id),
        )

    def __repr__(self):
        state = "finished" if self.finished else "live"
        return f"Beam({self.tokens}, logprob={self.accumulated_logprob:.4f}, {state})"


def top_k_tokens(log_probs, k):
    """
    Ids of the k largest log-probabilities, best first.

    argpartition selects in O(V); only the k survivors are sorted. Tokens with
    zero probability are left out.
    """
    k = min(k, len(log_probs))
    top = np.argpartition(log_probs, len(log_probs) - k)[len(log_probs) - k:]
    # Ties are broken by token id so that the result is deterministic.
    order = np.lexsort((top, -log_probs[top]))
    return [int(t) for t in top[order] if log_probs[t] > -np.inf]


def rank_beams(beams, alpha):
    """Beams sorted by length-penalized score, best first (stable)."""
    return sorted(beams, key=lambda b: b.length_penalized_score(alpha), reverse=True)


def beam_search_single(prompt, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """
    Beam search for one prompt.

    Returns:
        list of up to beam_width Beam objects, best first
    """
    prompt = list(prompt)
    beams = [Beam(tokens=[])]
    finished_beams = []

    for _ in range(max_new_tokens):
        if not beams:
            break  # every surviving beam has produced EOS

        # Expand live beams only. 2K candidates per beam leave room for EOS
        # candidates without starving the live set.
        candidates = []
        for beam in beams:
            log_probs = np.asarray(model.get_log_probs(prompt + beam.tokens))
            for token in top_k_tokens(log_probs, 2 * beam_width):
                candidates.append(beam.extend(token, float(log_probs[token]), eos_token_id))

        # Finished beams compete with the new candidates for the K slots, with
        # their frozen log-probability.
        survivors = rank_beams(candidates + finished_beams, alpha)[:beam_width]
        beams = [b for b in survivors if not b.finished]
        finished_beams = [b for b in survivors if b.finished]

    results = rank_beams(finished_beams + beams, alpha)
    for beam in results:
        beam.score = beam.length_penalized_score(alpha)
    return results


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """
    Beam search for a batch of prompts of any lengths.

    Every prompt is searched on its own, one after the other, so no state is
    shared between batch items.

    Args:
        prompts: list of token id lists
        beam_width: number of beams K kept per prompt
        max_new_tokens: maximum number of generated tokens
        alpha: length penalty exponent; 0 disables the penalty
        eos_token_id: id of the end-of-sequence token
        model: object with get_log_probs(token_ids) -> (vocab_size,)

    Returns:
        for each prompt a list of up to K Beam objects, best first
    """
    if beam_width < 1:
        raise ValueError(f"beam_width must be at least 1, got {beam_width}")

    return [
        beam_search_single(prompt, beam_width, max_new_tokens, alpha, eos_token_id, model)
        for prompt in prompts
    ]
