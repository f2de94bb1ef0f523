# bug: tokens alone come back, without EOS, in the order of their sums
# caught by: length_penalty
import heapq


def beam_search(next_log_probs, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [_sequences(next_log_probs, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def _sequences(next_log_probs, prompt, width, steps, alpha, eos):
    beams = [(0.0, [])]
    for _ in range(steps):
        grown = []
        for total, tokens in beams:
            if tokens[-1:] == [eos]:
                grown.append((total, tokens))
                continue
            row = next_log_probs(prompt + tokens)
            best = heapq.nlargest(width + 1, range(len(row)), key=row.__getitem__)
            grown += [(total + float(row[t]), tokens + [t]) for t in best if row[t] > -float("inf")]
        beams = heapq.nlargest(width, grown, key=lambda beam: beam[0])
        if all(tokens[-1:] == [eos] for _, tokens in beams):
            break
    kept = [(total, tokens[:-1] if tokens[-1:] == [eos] else tokens) for total, tokens in beams]
    kept.sort(key=lambda beam: beam[0], reverse=True)
    return [tokens for _, tokens in kept]
