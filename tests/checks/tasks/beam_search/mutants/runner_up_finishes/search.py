# bug: of 2K candidates every EOS finishes, also one that is not among the best K: K = 1 is not greedy
# caught by: greedy_equivalence
# passes: eos_retention, length_penalty, exhaustive_optimum
"""Vectorised beam search: per prompt one (K, L) token matrix, advanced by flat top-k over K*V candidates."""
import heapq
import numpy as np

from model import MinimalLM


class _Pool:
    """K best finished sequences of one prompt (a min-heap on the penalised score)."""

    def __init__(self, size):
        self.size, self.heap, self.serial = size, [], 0

    def push(self, score, tokens):
        self.serial += 1
        item = (score, -self.serial, tokens)
        if len(self.heap) < self.size:
            heapq.heappush(self.heap, item)
        else:
            heapq.heappushpop(self.heap, item)

    def worst(self):
        return self.heap[0][0] if len(self.heap) == self.size else -np.inf

    def sorted(self):
        return sorted(self.heap, reverse=True)


def _logp(model, rows):
    logits = np.asarray(model.forward(np.array(rows, dtype=np.int64)), dtype=float)
    if logits.ndim == 3:
        logits = logits[:, -1]
    mx = logits.max(1, keepdims=True)
    return logits - mx - np.log(np.exp(logits - mx).sum(1, keepdims=True))


def _search_one(model, prompt, K, steps, alpha, eos):
    pool = _Pool(K)
    live_tokens = [[]]
    live_scores = np.zeros(1)
    for t in range(1, steps + 1):
        lp = _logp(model, [prompt + s for s in live_tokens])
        total = live_scores[:, None] + lp
        V = lp.shape[1]
        flat = total.ravel()
        # 2K candidates: at most K of them can end in EOS... when there are K live beams, so K live ones remain
        take = min(2 * K, flat.size)
        order = np.argsort(-flat, kind="stable")[:take]
        nxt_tokens, nxt_scores = [], []
        for c in order:
            if not np.isfinite(flat[c]):
                continue
            b, v = divmod(int(c), V)
            seq = live_tokens[b] + [v]
            if v == eos:
                pool.push(flat[c] / t ** alpha, seq)
            elif len(nxt_tokens) < K:
                nxt_tokens.append(seq)
                nxt_scores.append(flat[c])
        live_tokens, live_scores = nxt_tokens, np.array(nxt_scores)
        if not live_tokens:
            break
        # log-probabilities only fall and the length never exceeds `steps`: an upper bound on any future score
        bound = live_scores.max() / (steps ** alpha if alpha > 0 else 1.0)
        if bound <= pool.worst():
            live_tokens = []
            break
    for s, sc in zip(live_tokens, live_scores):
        pool.push(sc / max(len(s), 1) ** alpha, s)
    return [{"tokens": toks, "score": float(sc)} for sc, _, toks in pool.sorted()]


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model=None):
    """prompts: list[list[int]] -> list (per prompt) of list (best first) of {"tokens", "score"}"""
    model = model or MinimalLM()
    return [_search_one(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


if __name__ == "__main__":
    for r in batched_beam_search([[1, 2, 3], [4]], 3, 8, 0.7, 0):
        for hyp in r:
            print(hyp)
