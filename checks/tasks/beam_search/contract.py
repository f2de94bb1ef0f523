"""What a submission for batched beam search was asked to deliver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Scripted
from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.beam_search.oracle import Hyp, beam_search
from judge_tui.checks.tasks.beam_search.reading import Beam, Form, settle
from judge_tui.checks.tasks.beam_search.scripts import distinct, table
from judge_tui.checks.tasks.beam_search.timing import TIMING
from judge_tui.checks.worker.scripted.models import rows_of

__all__ = ["ALONE", "CONTRACT", "probed"]

# V differs from K, the prompt's length and the steps, so that a misread axis is an error and no answer.
_VOCAB, _STEPS, _WIDTH, _ALPHA = 11, 4, 2, 0.5

#: One prompt, for searches that take no batch.
ALONE = "prompt"
_MODELS = (
    "lm", "model_fn", "language_model", "logprob_fn", "log_prob_fn", "logprobs_fn", "log_probs_fn",
    "logits_fn", "forward_fn", "forward", "score_fn", "scorer", "step_fn", "next_token_fn", "next_logprobs",
    "fn", "f", "m", "next_log_probs", "predict", "predict_fn", "get_log_probs", "get_logits", "net",
    "network", "llm",
    "decoder", "language_model_fn", "model_forward", "log_probs", "logits_model", "transformer", "oracle",
)  # fmt: skip
_PROMPTS = (
    "prompt_ids", "input_ids", "prompt_token_ids", "prompt_tokens", "batch", "batch_prompts", "inputs",
    "prompt_list", "contexts", "prefixes", "sequences", "input_sequences", "batch_of_prompts",
    "prompt_batch", "prompt",
)  # fmt: skip
_STEPS_NAMES = (
    "max_tokens", "max_steps", "max_length", "max_len", "steps", "num_steps", "n_steps", "max_new", "horizon",
    "max_gen_len", "max_new_toks", "max_generated", "t", "length", "budget", "token_budget", "step_budget",
    "limit", "token_limit", "step_limit", "new_tokens", "num_new_tokens", "n_new", "gen_len", "max_depth",
    "max_output_len", "max_output_length", "max_decode_len", "max_decode_steps", "max_iters",
)  # fmt: skip
_PENALTY = (
    "length_penalty", "len_penalty", "length_penalty_alpha", "length_alpha", "penalty", "lp_alpha", "a", "lp",
)  # fmt: skip
_END = (
    "eos_id", "eos", "eos_token", "end_token", "end_id", "stop_token", "stop_token_id", "end_token_id",
    "eos_tok",
)  # fmt: skip
_BEAMS = ("k", "num_beams", "beam_size", "width", "beams", "n_beams", "beam", "bw", "b")

_SEARCH = Role(
    "search",
    (
        Param("model", "model", _MODELS, required=False),
        Param("prompts", "data", _PROMPTS),
        Param("beam_width", "int", _BEAMS, required=False),
        Param("max_new_tokens", "int", _STEPS_NAMES, required=False),
        Param("alpha", "float", _PENALTY, required=False),
        Param("eos_token_id", "int", _END, required=False),
        Param("vocab_size", "int", ("v", "n_vocab", "num_tokens", "vocab"), required=False),
        Param("pad_token_id", "int", ("pad_id", "pad", "pad_token"), required=False, spare=True),
    ),
    (Return("results", "data"),),
    (
        r"^batched?_?beam_?search$",
        r"batch\w*_?beam",
        r"beam_?search\w*_?batch",
        r"^beam_?search$",
        r"beam_?search",
        r"beam",
        r"^(search|decode|generate|run|__call__)$",
        r"search|generate|decode",
    ),
    agrees=lambda value, inputs: _grade(value, inputs),  # noqa: PLW0108 - it stands below
    spellings=lambda binding: _batched_or_alone(binding),  # noqa: PLW0108 - it stands below
    enough=0.5,
    sure=5,
)


def _sample(rng: np.random.Generator) -> Sample:
    """One prompt whose two best continuations are unmistakable: (a, b, EOS) ends, (a, c, a, a) goes on."""
    eos, first, second, third, *prompt = distinct(rng, _VOCAB, 7)
    end, on = {eos: float(np.log(0.9))}, {first: float(np.log(0.9))}
    script = table(rng, _VOCAB, eos, {
        tuple(prompt): {first: float(np.log(0.93))},
        (*prompt, first): {second: float(np.log(0.68)), third: float(np.log(0.27))},
        (*prompt, first, second): end,
        (*prompt, first, third): on,
        (*prompt, first, third, first): on,
    })  # fmt: skip
    inputs = {
        "model": script.model, "prompts": [prompt], ALONE: prompt, "beam_width": _WIDTH,
        "max_new_tokens": _STEPS, "alpha": _ALPHA, "eos_token_id": eos, "vocab_size": _VOCAB,
        "pad_token_id": -1,
    }  # fmt: skip
    return Sample(inputs, {})


def _batched_or_alone(binding: Binding) -> Iterator[Sequence[Binding]]:
    """A batch of prompts, or one prompt a call."""
    yield (binding,)
    if binding.takes("prompts"):
        args = tuple(replace(a, source=ALONE) if a.source == "prompts" else a for a in binding.args)
        yield (replace(binding, args=args),)


def probed(value: Any, inputs: Mapping[str, Any], given: Mapping[str, int | str]) -> tuple[Form, list[Beam]]:
    """How a submission writes its beams, from its answer to the sample; ``given`` is a binding by hand.

    Raises:
        BadResult: It holds no beams.
    """
    prompt, eos = inputs["prompts"][0], inputs["eos_token_id"]
    return settle(value, prompt, inputs["alpha"], eos, _truth(inputs), given)


def _truth(inputs: Mapping[str, Any]) -> tuple[Hyp, ...]:
    model = inputs["model"]
    assert isinstance(model, Scripted)
    rows = rows_of(dict(model.spec))
    return beam_search(rows, inputs["prompts"][0], 64, _STEPS, 0.0, inputs["eos_token_id"]).hyps


def _grade(value: Any, inputs: Mapping[str, Any]) -> float:
    """How well an answer to the sample agrees: a quarter for each of four signs."""
    _form, beams = probed(value, inputs, {})
    if any(token >= _VOCAB for beam in beams for token in beam.tokens):
        raise BadResult("answered with tokens outside the vocabulary")
    model = inputs["model"]
    best = beam_search(
        rows_of(dict(model.spec)), inputs["prompts"][0], _WIDTH, _STEPS, _ALPHA, inputs["eos_token_id"]
    ).hyps
    likely = {hyp.tokens for hyp in best}
    first = beams[0]
    if all(beam.score is not None for beam in beams):
        first = max(beams, key=lambda beam: beam.score or 0.0)
    scored = first.score is not None and abs(first.score - best[0].score(_ALPHA)) < 1e-3
    found = any(beam.tokens in likely for beam in beams)
    return 0.25 * sum((True, found, first.tokens == best[0].tokens, scored))


CONTRACT = Contract(
    (_SEARCH,),
    _sample,
    "batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id) → per prompt K sequences "
    "of generated tokens, best first, with score = logprob / length^alpha.",
    timing=TIMING,
)
