"""Tests for batched_beam_search. Run with pytest or as a script."""

import numpy as np

from beam_search import batched_beam_search
from model import MinimalLM

EOS = 0


class MockModel:
    """
    Model with scripted log-probabilities.

    get_log_probs() returns EXACTLY the values given to set_log_probs(): they
    are log-probabilities already, not logits, and no softmax is applied. Scores
    can therefore be asserted to the last digit. Tokens that were not set have
    probability zero.
    """

    def __init__(self, vocab_size):
        self.vocab_size = vocab_size
        self._table = {}

    def set_log_probs(self, prefix, log_probs):
        """Script the step after `prefix` (prompt included): {token: logprob}."""
        row = np.full(self.vocab_size, -np.inf)
        for token, value in log_probs.items():
            row[token] = value
        self._table[tuple(prefix)] = row

    def get_log_probs(self, token_ids):
        return self._table[tuple(token_ids)]


def greedy_decode(model, prompt, max_new_tokens):
    """Plain argmax decoding: (tokens, sum of log-probabilities)."""
    tokens, total = [], 0.0
    for _ in range(max_new_tokens):
        log_probs = model.get_log_probs(prompt + tokens)
        token = int(np.argmax(log_probs))
        tokens.append(token)
        total += log_probs[token]
        if token == EOS:
            break
    return tokens, total


# ---------------------------------------------------------------------------
# Test 1
# ---------------------------------------------------------------------------


def test_1_greedy_equivalence():
    """K=1 with alpha=0 is greedy decoding."""
    model = MinimalLM(vocab_size=50, seed=1)

    for prompt in ([3, 1, 4], [1, 5, 9, 2, 6], [7]):
        expected, expected_logprob = greedy_decode(model, prompt, max_new_tokens=8)
        results = batched_beam_search(
            [prompt], beam_width=1, max_new_tokens=8, alpha=0.0, eos_token_id=EOS, model=model
        )
        best = results[0][0]
        print(f"  prompt {prompt} -> {best.tokens}")
        assert best.tokens == expected
        assert np.isclose(best.accumulated_logprob, expected_logprob)
        assert best.score == best.accumulated_logprob  # alpha = 0: no penalty


# ---------------------------------------------------------------------------
# Test 2
# ---------------------------------------------------------------------------


def test_2_batch_independence():
    """
    Each prompt in a batch gets the beams and scores of its solo run.

    The prompts differ in length, and the batch is also run in reverse order.
    """
    model = MinimalLM(vocab_size=50, seed=2)
    prompts = [[3, 1, 4], [2, 7, 1, 8, 2]]
    settings = dict(beam_width=3, max_new_tokens=6, alpha=0.6, eos_token_id=EOS, model=model)

    batched = batched_beam_search(prompts, **settings)
    backwards = batched_beam_search(prompts[::-1], **settings)[::-1]

    for prompt, together, swapped in zip(prompts, batched, backwards):
        solo = batched_beam_search([prompt], **settings)[0]
        assert len(together) == len(solo) == 3
        for a, b, c in zip(together, solo, swapped):
            assert a.tokens == b.tokens == c.tokens
            assert a.score == b.score == c.score
        print(f"  prompt {prompt}: best {together[0].tokens}, score {together[0].score:.4f}")


# ---------------------------------------------------------------------------
# Test 3
# ---------------------------------------------------------------------------


def test_3_eos_retention():
    """
    A finished beam must survive while a worse beam keeps going.

        step 1:  EOS -3.0 (finished)    CONT -4.0
        step 2:                         CONT -1.0  (total -5.0)
        step 3:                         CONT -1.0  (total -6.0)

    With EOS removal the answer would be the -6.0 beam.
    """
    CONT = 1
    prompt = [5]
    model = MockModel(vocab_size=8)
    model.set_log_probs(prompt, {EOS: -3.0, CONT: -4.0})
    model.set_log_probs(prompt + [CONT], {CONT: -1.0})
    model.set_log_probs(prompt + [CONT, CONT], {CONT: -1.0})

    results = batched_beam_search(
        [prompt], beam_width=2, max_new_tokens=3, alpha=0.0, eos_token_id=EOS, model=model
    )[0]
    for beam in results:
        print(f"  {beam}")

    eos_beam, cont_beam = results
    assert eos_beam.tokens == [EOS] and eos_beam.finished
    assert eos_beam.accumulated_logprob == -3.0
    assert cont_beam.tokens == [CONT, CONT, CONT] and not cont_beam.finished
    assert cont_beam.accumulated_logprob == -6.0


# ---------------------------------------------------------------------------
# Test 3b
# ---------------------------------------------------------------------------


def test_3b_eos_retention_with_length_penalty():
    """
    Two EOS beams of different lengths, alpha = 0.6.

        short:  EOS           -2.0 at length 1   -2.0 / 1 ** 0.6 = -2.0
        long:   CONT, EOS     -1.0 at length 2   -1.0 / 2 ** 0.6 = -0.66

    The longer beam must win, and the stored log-probabilities must not have
    been touched by the penalty.
    """
    CONT = 1
    prompt = [5]
    model = MockModel(vocab_size=8)
    model.set_log_probs(prompt, {EOS: -2.0, CONT: -0.5})
    model.set_log_probs(prompt + [CONT], {EOS: -0.5})

    results = batched_beam_search(
        [prompt], beam_width=2, max_new_tokens=4, alpha=0.6, eos_token_id=EOS, model=model
    )[0]
    for beam in results:
        print(f"  {beam}  score {beam.score:.4f}")

    long_beam, short_beam = results
    assert long_beam.tokens == [CONT, EOS] and long_beam.finished
    assert short_beam.tokens == [EOS] and short_beam.finished
    assert long_beam.accumulated_logprob == -1.0
    assert short_beam.accumulated_logprob == -2.0
    assert np.isclose(long_beam.score, -1.0 / 2**0.6)
    assert np.isclose(short_beam.score, -2.0)


TESTS = [
    ("Test 1: greedy equivalence (K=1, alpha=0)", test_1_greedy_equivalence),
    ("Test 2: batch independence", test_2_batch_independence),
    ("Test 3: EOS retention", test_3_eos_retention),
    ("Test 3b: EOS retention with length penalty", test_3b_eos_retention_with_length_penalty),
]


if __name__ == "__main__":
    for title, test in TESTS:
        print(title)
        test()
        print("  PASS")
    print(f"\nAll {len(TESTS)} tests passed.")
