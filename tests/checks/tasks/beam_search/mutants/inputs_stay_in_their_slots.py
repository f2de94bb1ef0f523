# bug: what the model reads stays in its slot when beams change places: only the new token is put behind it
# caught by: exhaustive_optimum
# passes: greedy_equivalence
"""Lists of lists: what was generated, its sum, and what the model reads, a list a beam in each."""


def beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [_search(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id) for prompt in prompts]


def _search(model, prompt, k, steps, alpha, eos):
    generated, sums, inputs = [[]], [0.0], [list(prompt)]
    for _ in range(steps):
        candidates = []
        for at, tokens in enumerate(generated):
            if tokens and tokens[-1] == eos:
                candidates.append((sums[at] / len(tokens) ** alpha, sums[at], at, None))
                continue
            for token, value in enumerate(model(inputs[at])):
                if value > float("-inf"):
                    total = sums[at] + float(value)
                    candidates.append((total / (len(tokens) + 1) ** alpha, total, at, token))
        if all(token is None for *_, token in candidates):
            break
        candidates.sort(key=lambda c: c[0], reverse=True)
        chosen = candidates[:k]
        while len(inputs) < len(chosen):
            inputs.append(list(inputs[chosen[len(inputs)][2]]))
        inputs = [inputs[slot] + [token][: token is not None] for slot, (_, _, _, token) in enumerate(chosen)]
        generated = [
            generated[at] + [] if token is None else generated[at] + [token] for _, _, at, token in chosen
        ]
        sums = [total for _, total, _, _ in chosen]
    scored = [(tokens, total / max(len(tokens), 1) ** alpha) for tokens, total in zip(generated, sums)]
    return sorted(scored, key=lambda pair: pair[1], reverse=True)
