"""Named tuples per prompt, the model's logits method on lists of lists."""
import math
from collections import namedtuple

Beam = namedtuple("Beam", ["score", "tokens"])
Output = namedtuple("Output", ["prompt_index", "beams"])


def _logp(row):
    top = max(row)
    norm = top + math.log(math.fsum(math.exp(v - top) for v in row))
    return [v - norm for v in row]


def batch_beam_decode(lm, prompts, width, max_len, alpha, end_id):
    out = []
    for index, prompt in enumerate(prompts):
        beams = [((), 0.0)]
        for _ in range(max_len):
            open_ = [b for b in beams if not b[0] or b[0][-1] != end_id]
            if not open_:
                break
            rows = lm.logits([list(prompt) + list(tokens) for tokens, _ in open_])
            nxt = [b for b in beams if b[0] and b[0][-1] == end_id]
            for (tokens, total), row in zip(open_, rows):
                logp = _logp([float(v) for v in row])
                for t in sorted(range(len(logp)), key=lambda t: (-logp[t], t))[: 2 * width]:
                    nxt.append(((*tokens, t), total + logp[t]))
            nxt.sort(key=lambda b: -b[1] / len(b[0]) ** alpha)
            beams = nxt[:width]
        ranked = [Beam(total / max(len(t), 1) ** alpha, list(t)) for t, total in beams]
        out.append(Output(index, ranked))
    return out
