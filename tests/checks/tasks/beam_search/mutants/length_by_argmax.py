# bug: what the budget ended has length 1 in the final score
# caught by: length_penalty
# passes: greedy_equivalence
"""Dense batched beam search: (B, K) grids, fixed shapes, one gather per step.

State of the search is a set of grids:

    tokens   (B, K, T)  int64    generated tokens, EOS-filled beyond the end
    logp     (B, K)     float64  accumulated log-probability, -inf = empty slot
    length   (B, K)     int64    tokens counted in the penalty (EOS included)
    done     (B, K)     bool     slot has emitted EOS

A finished slot offers one candidate, EOS at cost zero, with its length frozen,
and so competes with the live ones for its place.
"""
import numpy as np

NEG_INF = -np.inf


def _normalised(logp, length, alpha):
    """log p / len^alpha, safe for empty slots and for length zero."""
    return logp / np.power(np.maximum(length, 1).astype(np.float64), alpha)


def _next_log_probs(model_fn, prompts, tokens, step, live):
    """Scatter model rows for the live slots in a (B, K, V) grid (-inf elsewhere)."""
    where = np.argwhere(live)
    batch = [list(prompts[b]) + tokens[b, k, :step].tolist() for b, k in where]
    rows = np.asarray(model_fn(batch), dtype=np.float64)
    grid = np.full(live.shape + (rows.shape[-1],), NEG_INF)
    grid[where[:, 0], where[:, 1]] = rows
    return grid


def _select(rank, width):
    """Indices of the ``width`` best entries of each row; ties by position."""
    return np.argsort(-rank, axis=1, kind="stable")[:, :width]


def _widen(a, width, fill):
    """Pad axis 1 to ``width`` slots (small vocabularies cannot fill the beam)."""
    gap = width - a.shape[1]
    if gap <= 0:
        return a
    pad = np.full((a.shape[0], gap) + a.shape[2:], fill, dtype=a.dtype)
    return np.concatenate([a, pad], axis=1)


def _collect(tokens, logp, alpha, eos, steps):
    """Final score of every slot, sorted, empty slots dropped."""
    n_prompts, width, _ = tokens.shape
    if steps == 0:
        return [[{"tokens": [], "score": 0.0}] for _ in range(n_prompts)]
    ended = tokens == eos
    length = np.argmax(ended, axis=2) + 1                 # first EOS closes the sequence
    score = _normalised(logp, length, alpha)
    results = []
    for b in range(n_prompts):
        hyps = []
        for k in np.argsort(-score[b], kind="stable"):
            if logp[b, k] == NEG_INF:
                continue
            end = length[b, k] if ended[b, k].any() else steps
            hyps.append({"tokens": tokens[b, k, :end].tolist(), "score": float(score[b, k])})
        results.append(hyps)
    return results


def batched_beam_search(model_fn, prompts, beam_width, max_new_tokens, alpha=0.6,
                        eos_token_id=0):
    """Beam search for a list of prompts.

    model_fn: list of n token lists -> (n, V) log-probabilities of the next token.
    Returns per prompt a list of {"tokens", "score"}, best first; tokens are the
    generated ones, with EOS if it was reached.
    """
    n, width, eos = len(prompts), int(beam_width), int(eos_token_id)
    if n == 0:
        return []
    tokens = np.full((n, width, max_new_tokens), eos, dtype=np.int64)
    logp = np.full((n, width), NEG_INF)
    logp[:, 0] = 0.0
    length = np.zeros((n, width), dtype=np.int64)
    done = np.zeros((n, width), dtype=bool)

    steps = 0
    for step in range(max_new_tokens):
        live = ~done & (logp > NEG_INF)
        if not live.any():
            break
        grid = _next_log_probs(model_fn, prompts, tokens, step, live)
        vocab = grid.shape[2]
        grid[done] = NEG_INF
        grid[done, eos] = 0.0                            # carried over for free

        cand = logp[:, :, None] + grid
        cand_len = length + ~done
        rank = _normalised(cand, cand_len[:, :, None], alpha).reshape(n, -1)
        pick = _select(rank, width)
        parent, token = pick // vocab, pick % vocab

        logp = np.take_along_axis(cand.reshape(n, -1), pick, axis=1)
        length = np.take_along_axis(cand_len, parent, axis=1)
        done = np.take_along_axis(done, parent, axis=1) | (token == eos)
        tokens = np.take_along_axis(tokens, parent[:, :, None], axis=1)
        tokens[:, :, step] = token

        logp = _widen(logp, width, NEG_INF)
        length = _widen(length, width, 0)
        done = _widen(done, width, False)
        tokens = _widen(tokens, width, eos)
        steps = step + 1
    return _collect(tokens, logp, alpha, eos, steps)
