# bug: the log-probability of EOS is left out of the sum, prompt by prompt
# caught by: eos_retention, length_penalty
# passes: batch_independence
import numpy as np


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    def normalized(beam):
        tokens, total = beam
        return total / max(len(tokens), 1) ** alpha

    found = []
    for prompt in prompts:
        beams = [((), 0.0)]
        for _ in range(max_new_tokens):
            pool = [beam for beam in beams if beam[0][-1:] == (eos_token_id,)]
            for tokens, total in beams:
                if tokens[-1:] == (eos_token_id,):
                    continue
                logits = np.asarray(model(list(prompt) + list(tokens)), float).reshape(-1)
                top = logits.max()
                row = logits - top - np.log(np.exp(logits - top).sum())
                for token in np.argsort(-row)[: 2 * beam_width].tolist():
                    gain = 0.0 if token == eos_token_id else float(row[token])
                    pool.append(((*tokens, token), total + gain))
            beams = sorted(pool, key=normalized, reverse=True)[:beam_width]
        found.append([(list(beam[0]), normalized(beam)) for beam in beams])
    return found
