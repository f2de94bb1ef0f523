# passes: purity
# right: recursion, pure lists, EOS taken off, the prompt in front
"""Recursion over pure-Python lists; EOS is taken off and the prompt stands in front."""
import math


def run_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, lm):
    out = []
    for prompt in prompts:
        frontier = [([], 0.0)]
        final = _advance(lm, list(prompt), frontier, beam_width, max_new_tokens, alpha, eos_token_id)
        out.append([(_clean(prompt, toks, eos_token_id), _rank(lp, toks, alpha)) for toks, lp in final])
    return out


def _clean(prompt, toks, eos):
    body = toks[:-1] if toks and toks[-1] == eos else toks
    return list(prompt) + body


def _rank(lp, toks, alpha):
    if not toks:
        return lp
    return lp / len(toks) ** alpha


def _ended(toks, eos):
    return bool(toks) and toks[-1] == eos


def _advance(lm, prompt, frontier, width, left, alpha, eos):
    if left == 0 or all(_ended(toks, eos) for toks, _ in frontier):
        return frontier
    pool = []
    for toks, lp in frontier:
        if _ended(toks, eos):
            pool.append((toks, lp))
            continue
        logits = [float(v) for v in lm(prompt + toks)]
        top = max(logits)
        norm = top + math.log(sum(math.exp(v - top) for v in logits))
        for token, value in enumerate(logits):
            pool.append((toks + [token], lp + value - norm))
    pool.sort(key=lambda item: _rank(item[1], item[0], alpha), reverse=True)
    return _advance(lm, prompt, pool[:width], width, left - 1, alpha, eos)
