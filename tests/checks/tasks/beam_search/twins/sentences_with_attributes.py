# passes: purity
# right: a sentence is a list of its tokens without EOS, with slots beside; scores are floats of a class of their own
"""Beam search over sentences.

``search`` gives a ``Ranking`` per prompt: a tuple of ``Sentence``, best first, that knows how many steps were made.
A ``Sentence`` is the list of its words; EOS is not one of them, but it is scored and counted.
"""
import heapq
import itertools

import numpy as np


class WordModel:
    """Random log-probabilities, the same ones for the same words."""

    def __init__(self, vocab_size=30):
        self.vocab_size = vocab_size

    def get_log_probs(self, words):
        draws = np.random.default_rng([11, *(int(word) for word in words)]).gumbel(size=self.vocab_size)
        return draws - np.logaddexp.reduce(draws)


class Normalised(float):
    """A sum of log-probabilities over a power of a length, both of which it remembers."""

    def __new__(cls, total, count, power):
        value = super().__new__(cls, total / count**power if count else total)
        value.total, value.count = total, count
        return value


class Sentence(list):
    __slots__ = ("score", "ended", "parent")

    def __init__(self, words, score, ended=False, parent=None):
        list.__init__(self, words)
        self.score, self.ended, self.parent = score, ended, parent


class Ranking(tuple):
    """Sentences, best first."""

    def __new__(cls, sentences, steps):
        made = super().__new__(cls, sentences)
        made.steps = steps
        return made


def _longer(sentence, log_probs, eos, power):
    """The sentence with each word behind it; with EOS it ends instead."""
    total, count = sentence.score.total, sentence.score.count + 1
    for word, log_prob in enumerate(log_probs):
        score = Normalised(total + float(log_prob), count, power)
        words = sentence if word == eos else [*sentence, word]
        yield Sentence(words, score, word == eos, sentence)


def _ranked(model, prompt, width, steps, power, eos):
    beam, made = [Sentence([], Normalised(0.0, 0, power))], 0
    while made < steps and not all(sentence.ended for sentence in beam):
        made += 1
        rivals = (
            [sentence]
            if sentence.ended
            else _longer(sentence, model.get_log_probs([*prompt, *sentence]), eos, power)
            for sentence in beam
        )
        beam = heapq.nlargest(width, itertools.chain.from_iterable(rivals), key=lambda sentence: sentence.score)
    return Ranking(beam, made)


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """A ranking per prompt."""
    return [_ranked(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id) for prompt in prompts]
