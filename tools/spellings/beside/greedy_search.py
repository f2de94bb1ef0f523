"""Greedy decoding, to compare with."""

import numpy as np


def greedy_search(model, prompt, max_new_tokens, eos_token_id):
    tokens = list(prompt)
    for _ in range(max_new_tokens):
        token = int(np.argmax(model(tokens)))
        tokens.append(token)
        if token == eos_token_id:
            break
    return tokens
