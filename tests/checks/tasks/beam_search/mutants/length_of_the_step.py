# bug: finished beams are divided by the length that the live ones have reached
# caught by: length_penalty, eos_retention, batch_independence, exhaustive_optimum
# passes: greedy_equivalence
"""Batched beam search in NumPy, fully vectorised over prompts and beams.

Finished beams stay in the beam: they are extended by a single pad candidate (EOS again) of log-probability 0, so
that their accumulated log-probability never changes and they keep competing with the live beams.
"""
import numpy as np

NEG_INF = -1.0e30


def _log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.sum(np.exp(x), -1, keepdims=True))


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """
    model(sequences: list[list[int]]) -> logits (n, V) for the next token of each sequence

    Returns per prompt a list of (tokens, score), best first.
    """
    B, K = len(prompts), beam_width
    tokens = np.zeros((B, K, max_new_tokens), dtype=np.int64)
    logp = np.full((B, K), NEG_INF)
    logp[:, 0] = 0.0
    done = np.zeros((B, K), dtype=bool)
    length = 0
    for step in range(max_new_tokens):
        seqs = [list(prompts[b]) + tokens[b, k, :step].tolist() for b in range(B) for k in range(K)]
        lp = _log_softmax(np.asarray(model(seqs), dtype=np.float64)).reshape(B, K, -1)
        V = lp.shape[-1]
        frozen = np.full(V, NEG_INF)
        frozen[eos_token_id] = 0.0
        lp = np.where(done[..., None], frozen, lp)
        cand = (logp[..., None] + lp).reshape(B, K * V)
        length = step + 1
        order = np.argsort(-cand / length**alpha, axis=1, kind="stable")[:, :K]
        src, tok = order // V, order % V
        logp = np.take_along_axis(cand, order, 1)
        tokens = np.take_along_axis(tokens, src[..., None], 1)
        tokens[:, :, step] = tok
        done = np.take_along_axis(done, src, 1) | (tok == eos_token_id)
        if done.all():
            break
    results = []
    for b in range(B):
        beams = []
        for k in range(K):
            if logp[b, k] <= NEG_INF / 2:
                continue
            seq = tokens[b, k, :length].tolist()
            if eos_token_id in seq:
                seq = seq[: seq.index(eos_token_id) + 1]
            beams.append((seq, float(logp[b, k] / max(length, 1) ** alpha)))
        beams.sort(key=lambda p: -p[1])
        results.append(beams)
    return results


class MarkovModel:
    def __init__(self, vocab, seed=0):
        self.table = np.random.default_rng(seed).normal(size=(vocab, vocab))

    def __call__(self, sequences):
        return np.stack([self.table[s[-1]] for s in sequences])


if __name__ == "__main__":
    m = MarkovModel(12)
    out = batched_beam_search([[1, 2], [3]], 4, 6, 0.6, 0, m)
    for r in out:
        print(r)
    solo = batched_beam_search([[3]], 4, 6, 0.6, 0, m)[0]
    assert [t for t, _ in solo] == [t for t, _ in out[1]]
