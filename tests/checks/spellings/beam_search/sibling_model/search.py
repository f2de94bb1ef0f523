import numpy as np
from model import LanguageModel


def batched_beam_search(prompts, beam_width=4, max_new_tokens=16, alpha=0.6, eos_token_id=0):
    lm = LanguageModel()
    return {i: _search(lm, p, beam_width, max_new_tokens, alpha, eos_token_id) for i, p in enumerate(prompts)}


def _search(lm, prompt, width, steps, alpha, eos):
    def norm(beam):
        return beam[1] / max(len(beam[0]), 1) ** alpha

    beams = [([], 0.0)]
    for _ in range(steps):
        pool = []
        for tokens, total in beams:
            if tokens and tokens[-1] == eos:
                pool.append((tokens, total))
                continue
            logits = lm.forward(np.array(list(prompt) + tokens))[-1]
            logp = logits - logits.max()
            logp = logp - np.log(np.exp(logp).sum())
            order = np.argsort(-logp, kind="stable")[: 2 * width]
            pool += [(tokens + [int(t)], total + float(logp[t])) for t in order]
        beams = sorted(pool, key=norm, reverse=True)[:width]
    return [(tokens, norm((tokens, total))) for tokens, total in beams]
