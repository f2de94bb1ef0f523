# bug: a search is over once as many beams have ended as are asked for, whatever goes on
# caught by: eos_retention
# passes: greedy_equivalence
# only: eos_retention, greedy_equivalence
import numpy as np


def normalised(x):
    x = np.asarray(x, dtype=np.float64)
    top = x.max()
    return x - top - np.log(np.exp(x - top).sum())


class Columns:
    """The tokens of a search step by step, and the row that each of them follows."""

    def __init__(self):
        self.tokens, self.parents = [], []

    def add(self, tokens, parents):
        """A step."""
        self.tokens.append(list(tokens))
        self.parents.append(list(parents))

    def read(self, step, row):
        """What leads to a row of a step."""
        found = []
        for at in range(step, -1, -1):
            found.append(self.tokens[at][row])
            row = self.parents[at][row]
        return found[::-1]


def search(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id):
    columns, ended = Columns(), []
    live = [([], 0.0)]
    for step in range(max_new_tokens):
        rows = [normalised(model.forward(list(prompt) + text)) for text, _ in live]
        sums = np.array([total for _, total in live])[:, None] + np.array(rows)
        order = np.argsort(-sums, axis=None, kind="stable")[:beam_width]
        parents, tokens = np.divmod(order, sums.shape[1])
        going = [n for n, token in enumerate(tokens) if token != eos_token_id]
        for n, token in enumerate(tokens):
            if token == eos_token_id:
                ended.append((live[parents[n]][0] + [int(token)], sums.flat[order[n]], step))
        numbers = [live[parents[n]][0] + [int(tokens[n])] for n in going]
        columns.add([int(tokens[n]) for n in going], [int(parents[n]) for n in going])
        live = [(text, float(sums.flat[order[n]])) for text, n in zip(numbers, going)]
        if not live or len(ended) >= beam_width:
            break
    last = len(columns.tokens) - 1
    found = [(text, float(total) / len(text) ** alpha) for text, total, _ in ended]
    for row, (text, total) in enumerate(live if max_new_tokens else []):
        found.append((columns.read(last, row), total / len(text) ** alpha))
    return sorted(found, key=lambda pair: -pair[1])[:beam_width]


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt the best (tokens, score), best first."""
    return [search(model, p, beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
