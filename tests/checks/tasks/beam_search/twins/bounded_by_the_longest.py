# style: a search stops once K are finished and no live beam can score more at its longest
import numpy as np


def _row(model, tokens):
    logits = np.asarray(model(tokens), float).reshape(-1)
    return logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())


def search(model, prompt, width, limit, alpha, eos):
    done, live = [], [((), 0.0)]
    for step in range(1, limit + 1):
        grown = []
        for tokens, total in live:
            row = _row(model, [*prompt, *tokens])
            grown += [((*tokens, int(t)), total + float(row[t])) for t in np.argsort(-row)[: 2 * width]]
        grown.sort(key=lambda beam: -beam[1])
        done += [beam for beam in grown[:width] if beam[0][-1] == eos]
        live = [beam for beam in grown if beam[0][-1] != eos][:width]
        reach = limit
        if not live or (
            len(done) >= width
            and sorted(s / len(t) ** alpha for t, s in done)[-width] >= live[0][1] / reach**alpha
        ):
            live = []
            break
    ranked = sorted(((s / len(t) ** alpha, t) for t, s in done + live if t), reverse=True)[:width]
    return [(list(tokens), score) for score, tokens in ranked]


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    return [search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
