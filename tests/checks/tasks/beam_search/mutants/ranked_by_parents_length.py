# bug: new beams are ranked against ended ones by the length of their parent; records of all prompts in one list, the model is told last places
# caught by: length_penalty
# passes: eos_retention, batch_independence, edge_cases
"""Batched beam search with length-normalised scores (score = logprob / len**alpha).

Model interface
---------------
``model.next_log_probs(ids, last_pos)``

    ids       (N, L) int32  sequences packed to the left, tail filled with zeros
    last_pos  (N,)   int32  index of the last real token of every row
    returns   (N, V)        log-probabilities of the token after ``last_pos``

The answer is one flat list of records, prompt by prompt, best first inside each
prompt: {"prompt": int, "rank": int, "tokens": [...], "logprob": float,
"score": float, "stopped": bool}.
"""

import operator

import numpy as np


class _Hyp:
    """Mutable-free hypothesis. ``tokens`` never contains prompt tokens."""

    def __init__(self, tokens, logprob, stopped):
        self.tokens = tokens
        self.logprob = logprob
        self.stopped = stopped

    def score(self, alpha):
        """Length-normalised score; an EOS is a token like any other."""
        if not self.tokens:
            return 0.0
        return self.logprob / len(self.tokens) ** alpha


def _pack(rows):
    last = np.array([len(r) - 1 for r in rows], dtype=np.int32)
    ids = np.zeros((len(rows), int(last.max()) + 1), dtype=np.int32)
    for r, row in enumerate(rows):
        ids[r, : len(row)] = row
    return ids, last


def _top(row, k):
    """k best token ids of one row (ties: lower id first)."""
    order = np.lexsort((np.arange(row.size), -row))
    return order[:k]


def _advance(pool, rows, beam_width, alpha, eos_token_id):
    """One step for one prompt.

    ``pool`` holds the current hypotheses and ``rows`` the log-probabilities of
    those that are still running, in pool order.
    """
    ranked = []  # (score, hypothesis)
    row_iter = iter(rows)
    for hyp in pool:
        if hyp.stopped:
            # stays where it is and competes with what it scored when it stopped
            ranked.append((hyp.score(alpha), hyp))
            continue
        row = next(row_iter)
        norm = max(len(hyp.tokens), 1) ** alpha
        for token in _top(row, beam_width):
            if np.isneginf(row[token]):
                break
            logprob = hyp.logprob + float(row[token])
            child = _Hyp(hyp.tokens + [int(token)], logprob, int(token) == eos_token_id)
            ranked.append((logprob / norm, child))
    ranked.sort(key=operator.itemgetter(0), reverse=True)
    return [hyp for _, hyp in ranked[:beam_width]]


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """Beam search over all prompts at once.

    All running hypotheses of all prompts share one model call per step; prompts
    whose beams have all stopped no longer take part.

    Args:
        prompts: list of non-empty token lists.
        beam_width: hypotheses kept per prompt.
        max_new_tokens: maximum generated length (an EOS counts).
        alpha: length exponent.
        eos_token_id: end-of-sequence id.
        model: object with ``next_log_probs``, see the module docstring.

    Returns:
        Flat list of records (dicts), see the module docstring.
    """
    if beam_width < 1:
        raise ValueError("beam_width must be a positive integer")
    for n, prompt in enumerate(prompts):
        if not prompt:
            raise ValueError("prompt %d has no tokens" % n)

    pools = {n: [_Hyp([], 0.0, False)] for n in range(len(prompts))}

    for _ in range(max_new_tokens):
        spans, batch = {}, []
        for n, pool in pools.items():
            begin = len(batch)
            batch.extend(list(prompts[n]) + h.tokens for h in pool if not h.stopped)
            if len(batch) > begin:
                spans[n] = slice(begin, len(batch))
        if not batch:
            break

        ids, last = _pack(batch)
        log_probs = np.asarray(model.next_log_probs(ids, last), dtype=np.float64)
        for n, span in spans.items():
            pools[n] = _advance(pools[n], log_probs[span], beam_width, alpha, eos_token_id)

    records = []
    for n, pool in pools.items():
        pool = sorted(pool, key=lambda h: h.score(alpha), reverse=True)
        for rank, hyp in enumerate(pool):
            records.append({
                "prompt": n,
                "rank": rank,
                "tokens": hyp.tokens,
                "logprob": hyp.logprob,
                "score": hyp.score(alpha),
                "stopped": hyp.stopped,
            })
    return records


class HashedLM:
    """Deterministic stand-in model: log-probs from a hash of the whole prefix."""

    def __init__(self, vocab=11, sharpness=1.5):
        self.vocab = vocab
        self.sharpness = sharpness

    def next_log_probs(self, ids, last_pos):
        out = np.empty((len(ids), self.vocab))
        for r, end in enumerate(last_pos):
            key = 17
            for t in ids[r, : end + 1]:
                key = (key * 1000003 + int(t) + 1) % (2 ** 31 - 1)
            z = np.random.default_rng(key).normal(size=self.vocab) * self.sharpness
            out[r] = z - np.log(np.exp(z).sum())
        return out


if __name__ == "__main__":
    for rec in batched_beam_search([[1, 2], [3]], 3, 6, 0.7, 0, HashedLM()):
        print(rec["prompt"], rec["rank"], "%.4f" % rec["score"], rec["tokens"])
