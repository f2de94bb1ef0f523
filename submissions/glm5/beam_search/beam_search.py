"""
Batched beam search with EOS semantics and a length penalty.

score(beam) = acc_logprob / len(tokens) ** alpha

`tokens` are the generated tokens only (the prompt does not count), including
the EOS token if there is one.
"""

import numpy as np


def _log_softmax(logits):
    shifted = logits - np.max(logits)
    return shifted - np.log(np.sum(np.exp(shifted)))


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """
    Beam search for several prompts.

    Args:
        model:          object with forward(token_ids) -> next-token logits (V,)
        prompts:        list of token id lists, may differ in length
        beam_width:     number of beams K
        max_new_tokens: maximum number of generated tokens
        alpha:          length penalty exponent (0 = no penalty)
        eos_token_id:   token id that finishes a beam

    Returns:
        For each prompt a list of at most K (tokens, score) pairs, best first.
    """
    # Each prompt has its own pool, so batch items cannot influence each other.
    return [
        _search_one(model, list(prompt), beam_width, max_new_tokens, alpha, eos_token_id)
        for prompt in prompts
    ]


def _search_one(model, prompt, K, max_new_tokens, alpha, eos_token_id):
    def penalized_score(acc_logprob, length):
        return acc_logprob / max(length, 1) ** alpha

    # A beam is (tokens, acc_logprob, finished).
    beams = [([], 0.0, False)]

    for _ in range(max_new_tokens):
        finished = [b for b in beams if b[2]]
        active = [b for b in beams if not b[2]]
        if not active:
            break

        candidates = []
        for tokens, acc_logprob, _done in active:
            logprobs = _log_softmax(np.asarray(model.forward(prompt + tokens), dtype=np.float64))
            # 2K candidates per beam: even if some of them are EOS, enough
            # unfinished ones remain to fill the pool.
            for tok in np.argsort(-logprobs, kind="stable")[: 2 * K]:
                if logprobs[tok] == -np.inf:
                    continue
                tok = int(tok)
                candidates.append(
                    (tokens + [tok], acc_logprob + float(logprobs[tok]), tok == eos_token_id)
                )

        # Finished beams STAY in the pool. Such a beam is a complete candidate
        # with a frozen log-probability. If it were taken out, a longer and less
        # likely beam could win only because it has not stopped yet. It is not
        # expanded any more, but it keeps its slot for as long as its score is
        # among the K best, and loses it to a beam that is really better.
        pool = candidates + finished
        pool.sort(key=lambda b: penalized_score(b[1], len(b[0])), reverse=True)
        beams = pool[:K]

    beams.sort(key=lambda b: penalized_score(b[1], len(b[0])), reverse=True)
    return [(tokens, penalized_score(lp, len(tokens))) for tokens, lp, _done in beams]


# ---------------------------------------------------------------------------
# Test helpers
# ---------------------------------------------------------------------------


def _make_logits(vocab_size, logprobs):
    """
    Logits whose log-softmax is exactly `logprobs` ({token: logprob}) for the
    given tokens. The remaining probability mass is spread uniformly over all
    other tokens, so that the distribution sums to one and log-softmax changes
    nothing.
    """
    rest = 1.0 - sum(np.exp(lp) for lp in logprobs.values())
    assert rest > 0, "log-probabilities sum to more than one"
    logits = np.full(vocab_size, np.log(rest / (vocab_size - len(logprobs))))
    for tok, lp in logprobs.items():
        logits[tok] = lp
    return logits


class _MockModel:
    """Model whose next-token logits are given by a function of the sequence."""

    def __init__(self, logits_fn):
        self.logits_fn = logits_fn

    def forward(self, token_ids):
        return self.logits_fn(tuple(token_ids))


def _pseudo_random_model(vocab_size):
    # Seeded by the whole sequence: the logits depend on every token, prompt
    # included, and are the same in every run.
    return _MockModel(
        lambda seq: np.random.default_rng([len(seq), *seq]).standard_normal(vocab_size) * 2.0
    )


# ---------------------------------------------------------------------------
# Tests
# ---------------------------------------------------------------------------


def test_greedy_equivalence():
    """K=1 and alpha=0.0 must reproduce greedy decoding."""
    vocab_size, eos, steps = 20, 0, 10
    model = _pseudo_random_model(vocab_size)

    for prompt in ([1, 2, 3], [7], [4, 4, 9, 11]):
        greedy, greedy_logprob = [], 0.0
        for _ in range(steps):
            logprobs = _log_softmax(model.forward(prompt + greedy))
            tok = int(np.argmax(logprobs))
            greedy.append(tok)
            greedy_logprob += logprobs[tok]
            if tok == eos:
                break

        [[(tokens, score)]] = batched_beam_search(model, [prompt], 1, steps, 0.0, eos)
        assert tokens == greedy, f"{tokens} != {greedy}"
        assert abs(score - greedy_logprob) < 1e-9
        print(f"  prompt {prompt}: {tokens}, score {score:.4f}")


def test_batch_independence():
    """A batch gives the same beams as running each prompt on its own."""
    vocab_size, eos = 20, 0
    model = _pseudo_random_model(vocab_size)
    prompts = [[1, 2, 3], [5, 6, 7, 8, 9]]

    batched = batched_beam_search(model, prompts, 3, 6, 0.6, eos)
    for prompt, together in zip(prompts, batched):
        [alone] = batched_beam_search(model, [prompt], 3, 6, 0.6, eos)
        assert together == alone, f"prompt {prompt}: {together} != {alone}"
        print(f"  prompt {prompt}: {len(together)} beams identical to the solo run")


def test_eos_retention():
    """
    EOS at step 1 with -3.0 must beat a beam that goes on from -4.0 to -5.0.
    """
    vocab_size, eos, cont = 1000, 0, 1
    prompt = [2, 3]

    def logits_fn(seq):
        if len(seq) == len(prompt):
            return _make_logits(vocab_size, {eos: -3.0, cont: -4.0})
        return _make_logits(vocab_size, {cont: -1.0})

    [results] = batched_beam_search(_MockModel(logits_fn), [prompt], 2, 2, 0.0, eos)
    for tokens, score in results:
        print(f"  tokens {tokens}, score {score:.4f}")

    best_tokens, best_score = results[0]
    assert best_tokens == [eos], f"the EOS beam was lost, best is {best_tokens}"
    assert abs(best_score - (-3.0)) < 1e-9, f"EOS score {best_score} is not -3.0"
    assert results[1][0] == [cont, cont]
    assert abs(results[1][1] - (-5.0)) < 1e-9


if __name__ == "__main__":
    print("Test 1: K=1, alpha=0.0 equals greedy decoding")
    test_greedy_equivalence()
    print("Test 2: batch independence")
    test_batch_independence()
    print("Test 3: EOS retention")
    test_eos_retention()
    print("All tests passed.")
