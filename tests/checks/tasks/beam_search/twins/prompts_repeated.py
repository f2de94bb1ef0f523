# style: every prompt stands in as many rows as it has beams, one behind the other
# only: batch_independence, greedy_equivalence, length_penalty
import numpy as np


def normalised(rows):
    rows = np.asarray(rows, dtype=np.float64)
    top = rows.max(axis=-1, keepdims=True)
    return rows - top - np.log(np.exp(rows - top).sum(axis=-1, keepdims=True))


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt the best (tokens, score), best first; the model is asked once a step for all rows."""
    count, width = len(prompts), beam_width
    repeated = [list(prompt) for prompt in prompts for _ in range(width)]
    texts = [[] for _ in range(count * width)]
    totals = np.full(count * width, -np.inf)
    totals[::width] = 0.0
    ended = [[] for _ in range(count)]
    for _step in range(max_new_tokens):
        rows = normalised([model.forward(prompt + text) for prompt, text in zip(repeated, texts)])
        sums = totals[:, None] + rows
        for number in range(count):
            own = slice(number * width, (number + 1) * width)
            block, before = sums[own], texts[own]
            order = np.argsort(-block, axis=None, kind="stable")[:width]
            for place, at in enumerate(order):
                row, token = divmod(int(at), block.shape[1])
                total, text = float(block[row, token]), before[row] + [token]
                if token == eos_token_id and total > -np.inf:
                    ended[number].append((text, total / len(text) ** alpha))
                    total = -np.inf
                texts[own.start + place], totals[own.start + place] = text, total
            for place in range(len(order), width):
                totals[own.start + place] = -np.inf
    for number in range(count):
        for text, total in list(zip(texts, totals))[number * width : (number + 1) * width]:
            if total > -np.inf and text:
                ended[number].append((text, float(total) / len(text) ** alpha))
    return [sorted(pairs, key=lambda pair: -pair[1])[:width] for pairs in ended]
