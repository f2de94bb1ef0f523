"""All settings in one object."""
import numpy as np


def beam_search(model, prompts, config):
    width, alpha, eos = config.beam_width, config.alpha, config.eos_token_id
    found = []
    for prompt in prompts:
        beams = [([], 0.0)]
        for _ in range(config.max_new_tokens):
            pool = []
            for tokens, total in beams:
                if tokens[-1:] == [eos]:
                    pool.append((tokens, total))
                    continue
                logits = np.asarray(model(list(prompt) + tokens), dtype=float)
                logp = logits - np.logaddexp.reduce(logits)
                pool += [(tokens + [int(t)], total + logp[t]) for t in np.argsort(-logp)[: 2 * width]]
            beams = sorted(pool, key=lambda b: -(b[1] / len(b[0]) ** alpha))[:width]
        found.append([(float(total / max(len(t), 1) ** alpha), t) for t, total in beams])
    return found
