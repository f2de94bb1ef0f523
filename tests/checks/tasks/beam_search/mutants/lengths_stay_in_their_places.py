# bug: beams change places and their lengths do not
# caught by: length_penalty
# passes: greedy_equivalence
import numpy as np

NEG = -np.inf


def log_softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model_fn):
    """All prompts at once; state is kept in (batch, beam) arrays.

    model_fn(list of token lists) -> logits (n, vocab).
    """
    n, k = len(prompts), beam_width
    seqs = [[[] for _ in range(k)] for _ in range(n)]
    total = np.full((n, k), NEG)
    total[:, 0] = 0.0
    length = np.zeros((n, k), dtype=int)
    done = np.zeros((n, k), dtype=bool)

    for _ in range(max_new_tokens):
        if np.all(done | np.isneginf(total)):
            break
        where = [(b, j) for b in range(n) for j in range(k) if not done[b, j] and total[b, j] > NEG]
        logp = log_softmax(
            np.asarray(model_fn([list(prompts[b]) + seqs[b][j] for b, j in where]), dtype=float)
        )
        vocab = logp.shape[-1]
        rows = {bj: i for i, bj in enumerate(where)}
        for b in range(n):
            cand = []
            for j in range(k):
                if total[b, j] == NEG:
                    continue
                if done[b, j]:
                    cand.append((total[b, j], length[b, j], j, None))
                    continue
                row = logp[rows[b, j]]
                for t in range(vocab):
                    if row[t] > NEG:
                        cand.append((total[b, j] + row[t], length[b, j] + 1, j, t))
            cand.sort(key=lambda c: -c[0] / max(c[1], 1) ** alpha)
            keep = cand[:k]
            parents = [c[2] for c in keep]
            old_seqs, old_done, old_len = [list(s) for s in seqs[b]], done[b].copy(), length[b].copy()
            total[b] = NEG
            for slot, (value, new_len, j, t) in enumerate(keep):
                total[b, slot] = value
                seqs[b][slot] = old_seqs[j] + ([] if t is None else [t])
                done[b, slot] = old_done[j] or t == eos_token_id
                length[b, slot] = old_len[slot] + (t is not None)

    answer = []
    for b in range(n):
        score = [total[b, j] / max(length[b, j], 1) ** alpha for j in range(k)]
        order = sorted((j for j in range(k) if total[b, j] > NEG), key=lambda j: -score[j])
        answer.append([{"tokens": seqs[b][j], "score": float(score[j])} for j in order])
    return answer
