# bug: the model's cache is put into another order by beams within a prompt, without the offset of the prompt
# caught by: batch_independence, edge_cases
# passes: length_penalty
"""Fully vectorised batched beam search on top of a KV-cache-style model API.

The model is any object with two methods::

    logits, cache = model.prefill(prompts)          # list[list[int]] -> (B, V)
    logits, cache = model.decode(token_ids, cache)  # (R,) -> (R, V)

``cache`` is a dict of arrays; the leading axis of every array is the row axis
(B after ``prefill``; R = B * K from then on).  This module expands the rows to
K per prompt and re-orders them whenever the beams are re-ordered.

All the beam state lives in rectangular arrays:

    tokens  (B, K, T)   generated ids
    length  (B, K)      generated length, EOS included
    logp    (B, K)      sum of log-probabilities
    done    (B, K)      True once EOS has been produced

A slot with ``logp == -inf`` is empty (there are fewer than K hypotheses so far).
"""
import numpy as np

NEG_INF = -np.inf


def _log_softmax(logits):
    logits = np.asarray(logits, dtype=np.float64)
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def _map_cache(fn, cache):
    """Apply fn to every array of the cache."""
    return {name: fn(array) for name, array in cache.items()}


def _expand_cache(cache, k):
    """Row b of the prefill cache becomes rows b*k ... b*k + k - 1."""
    return _map_cache(lambda a: np.repeat(a, k, axis=0), cache)


def _reorder_cache(cache, parents):
    """Give every beam the cache of the beam that it came from."""
    rows = parents.reshape(-1)
    return _map_cache(lambda a: a[rows], cache)


def _pick(array, parents):
    """array[b, parents[b, k]] for (B, K) and (B, K, T) arrays."""
    if array.ndim == 3:
        return np.take_along_axis(array, parents[:, :, None], axis=1)
    return np.take_along_axis(array, parents, axis=1)


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha=0.6,
                        eos_token_id=0):
    """Search all prompts in lockstep.

    Returns
    -------
    sequences : list[list[tuple[int, ...]]]
        For each prompt the hypotheses, best first; generated tokens only, a
        final EOS is kept.
    scores : list[list[float]]
        logprob / len**alpha, in the same order.
    """
    n_prompts, k = len(prompts), int(beam_width)
    if k < 1:
        raise ValueError("beam_width must be >= 1")
    if n_prompts == 0:
        return [], []
    if max_new_tokens == 0:
        return [[()] for _ in prompts], [[0.0] for _ in prompts]

    logits, cache = model.prefill(prompts)
    logits = np.repeat(np.asarray(logits), k, axis=0)
    cache = _expand_cache(cache, k)
    vocab = logits.shape[-1]

    tokens = np.zeros((n_prompts, k, max_new_tokens), dtype=np.int64)
    length = np.zeros((n_prompts, k), dtype=np.int64)
    done = np.zeros((n_prompts, k), dtype=bool)
    logp = np.full((n_prompts, k), NEG_INF)
    logp[:, 0] = 0.0  # one live root per prompt, or all K beams would be copies

    for step in range(max_new_tokens):
        step_logp = _log_softmax(logits).reshape(n_prompts, k, vocab)

        # Extensions of running beams; a finished beam has just one "extension",
        # itself, parked in its EOS column with its log-probability unchanged.
        total = logp[:, :, None] + step_logp
        frozen = np.full(vocab, NEG_INF)
        frozen[eos_token_id] = 0.0
        total = np.where(done[:, :, None], logp[:, :, None] + frozen, total)

        new_length = np.where(done, length, length + 1)
        score = total / np.power(new_length.astype(np.float64), alpha)[:, :, None]

        flat = score.reshape(n_prompts, k * vocab)
        best = np.argsort(-flat, axis=1, kind="stable")[:, :k]
        parents, chosen = best // vocab, best % vocab

        logp = np.take_along_axis(total.reshape(n_prompts, k * vocab), best, axis=1)
        was_done = _pick(done, parents)
        tokens = _pick(tokens, parents)
        length = _pick(new_length, parents)
        tokens[:, :, step] = np.where(was_done, 0, chosen)
        done = was_done | (chosen == eos_token_id)

        empty = np.isneginf(logp)
        if np.all(done | empty) or step + 1 == max_new_tokens:
            break

        cache = _reorder_cache(cache, parents)
        logits, cache = model.decode(chosen.reshape(-1), cache)

    sequences, scores = [], []
    for b in range(n_prompts):
        seqs, vals = [], []
        for j in range(k):  # already best first
            if np.isneginf(logp[b, j]):
                continue
            n = int(length[b, j])
            seqs.append(tuple(int(t) for t in tokens[b, j, :n]))
            vals.append(float(logp[b, j] / n ** alpha))
        sequences.append(seqs)
        scores.append(vals)
    return sequences, scores
