"""The model is an object of the module; beams are dicts."""
import numpy as np


class BigramLM:
    def __init__(self, vocab_size=12, seed=0):
        self.table = np.random.default_rng(seed).standard_normal((vocab_size, vocab_size))

    def forward(self, ids):
        """Logits (L, V) of one sequence."""
        return self.table[np.asarray(ids)]


model = BigramLM()


def _log_softmax(z):
    z = np.asarray(z, float)
    return z - z.max() - np.log(np.exp(z - z.max()).sum())


def batched_beam_search(prompts, num_beams, max_steps, length_penalty, eos):
    results = []
    for prompt in prompts:
        pool = [{"tokens": [], "logp": 0.0, "done": False}]
        for _ in range(max_steps):
            grown = [b for b in pool if b["done"]]
            for b in pool:
                if b["done"]:
                    continue
                logp = _log_softmax(model.forward(list(prompt) + b["tokens"])[-1])
                for t in np.argsort(-logp)[: 2 * num_beams]:
                    grown.append({"tokens": b["tokens"] + [int(t)], "logp": b["logp"] + float(logp[t]), "done": t == eos})
            for b in grown:
                b["score"] = b["logp"] / len(b["tokens"]) ** length_penalty
            pool = sorted(grown, key=lambda b: b["score"], reverse=True)[:num_beams]
            if all(b["done"] for b in pool):
                break
        results.append([{"tokens": b["tokens"], "score": b.get("score", 0.0)} for b in pool])
    return results


if __name__ == "__main__":
    print(batched_beam_search([[1, 2]], 2, 3, 1.0, 0))
