"""A factory closes over the model and gives the search."""
import numpy as np


def make_beam_search(model_fn, eos_id):
    def search(prompts, beam_width, max_steps, alpha):
        return [one(list(p), beam_width, max_steps, alpha) for p in prompts]

    def one(prompt, width, steps, alpha):
        beams = [((), 0.0)]
        for _ in range(steps):
            pool = []
            for tokens, total in beams:
                if tokens and tokens[-1] == eos_id:
                    pool.append((tokens, total))
                    continue
                row = np.asarray(model_fn(prompt + list(tokens)), dtype=float)
                row = row - np.logaddexp.reduce(row)
                pool += [((*tokens, int(t)), total + float(row[t])) for t in np.argsort(-row)[: 2 * width]]
            beams = sorted(pool, key=lambda b: b[1] / len(b[0]) ** alpha, reverse=True)[:width]
        return [{"sequence": list(t), "score": s / max(1, len(t)) ** alpha} for t, s in beams]

    return search
