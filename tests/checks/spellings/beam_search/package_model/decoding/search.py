import math

from . import model
from .beams import Pool


def search(prompts, beams, max_tokens, length_penalty, eos_id):
    return [_one(tuple(p), beams, max_tokens, length_penalty, eos_id) for p in prompts]


def _one(prompt, width, steps, alpha, eos):
    pool = Pool(width, alpha, eos)
    for _ in range(steps):
        if not pool.live:
            break
        pool.advance({tokens: model.next_token_logprobs([*prompt, *tokens]) for tokens in pool.live})
    assert all(math.isfinite(score) for score in pool.scores())
    return pool.answer()
