# passes: purity
# right: costs on heaps, (cost, tokens)
"""Costs on heaps; the model is a function of a list; results are (cost, tokens)."""
import heapq
import math


def beam_search(logprob_fn, prompts, k, max_steps, alpha, eos_id):
    answers = []
    for prompt in prompts:
        answers.append(_best(logprob_fn, list(prompt), k, max_steps, alpha, eos_id))
    return answers


def _cost(nll, tokens, alpha):
    return nll / math.pow(len(tokens), alpha) if tokens else nll


def _best(logprob_fn, prompt, k, max_steps, alpha, eos_id):
    heap = [(0.0, 0.0, ())]
    for _ in range(max_steps):
        following = []
        for cost, nll, tokens in heap:
            if tokens and tokens[-1] == eos_id:
                following.append((cost, nll, tokens))
                continue
            row = logprob_fn(prompt + list(tokens))
            order = heapq.nlargest(2 * k, range(len(row)), key=lambda t: row[t])
            for token in order:
                extended = tokens + (token,)
                total = nll - float(row[token])
                following.append((_cost(total, extended, alpha), total, extended))
        heap = heapq.nsmallest(k, following)
        if all(tokens and tokens[-1] == eos_id for _, _, tokens in heap):
            break
    return [(cost, list(tokens)) for cost, _, tokens in sorted(heap)]
