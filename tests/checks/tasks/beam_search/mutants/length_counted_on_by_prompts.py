# bug: one length is counted on for each prompt of the batch and not once a step
# caught by: batch_independence
# passes: length_penalty
# only: batch_independence, length_penalty
import numpy as np


def normalised(x):
    x = np.asarray(x, dtype=np.float64)
    top = x.max()
    return x - top - np.log(np.exp(x - top).sum())


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt the best (tokens, score), best first; all prompts go on step by step."""
    live = [[([], 0.0)] for _ in prompts]
    ended = [[] for _ in prompts]
    length = 0
    for _step in range(max_new_tokens):
        for number, prompt in enumerate(prompts):
            if not live[number]:
                continue
            length += 1
            grown = []
            for text, total in live[number]:
                row = normalised(model.forward(list(prompt) + text))
                grown += [
                    (text + [int(t)], total + float(row[t])) for t in np.argsort(-row)[: beam_width + 1]
                ]
            grown.sort(key=lambda pair: -pair[1])
            best = grown[:beam_width]
            ended[number] += [
                (text, total / length**alpha) for text, total in best if text[-1] == eos_token_id
            ]
            live[number] = [pair for pair in best if pair[0][-1] != eos_token_id]
    for number, beams in enumerate(live):
        ended[number] += [(text, total / max(length, 1) ** alpha) for text, total in beams if text]
    return [sorted(pairs, key=lambda pair: -pair[1])[:beam_width] for pairs in ended]
