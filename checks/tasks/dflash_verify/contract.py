"""What a submission for tree verification was asked to deliver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.dflash_verify.drafting import ORDERS, ordered
from judge_tui.checks.tasks.dflash_verify.handing import given, spellings
from judge_tui.checks.tasks.dflash_verify.masks import seen
from judge_tui.checks.tasks.dflash_verify.reading import Answer, Form, Key, settle
from judge_tui.checks.tasks.dflash_verify.scripts import stated
from judge_tui.checks.tasks.dflash_verify.timing import TIMING
from judge_tui.checks.tasks.dflash_verify.trees import Tree, accepted, likeliest, visibility
from judge_tui.checks.worker.scripted.models import rows_of
from judge_tui.checks.worker.scripted.targets import STYLES

__all__ = ["CONTRACT", "PROMPT_LEN", "TREE_SIZE", "VOCAB", "probed"]

#: No token of a probe is below prompt and tree together, so that tokens and indices cannot be mixed up.
VOCAB, PROMPT_LEN, TREE_SIZE = 37, 5, 7

_PROMPT = (
    "prompt_tokens", "prompt_ids", "input_ids", "prefix", "context", "prompt_token_ids", "ctx", "committed",
    "prefix_tokens", "sequence", "context_tokens", "context_ids", "inputs", "input_tokens", "prefix_ids",
)  # fmt: skip
_TOKENS = (
    "draft_tokens", "tokens", "candidates", "nodes", "tree_token_ids", "draft_tree_tokens", "token_ids",
    "drafted", "candidate_tokens", "node_tokens", "draft", "draft_ids", "tree_ids", "tree", "drafts",
    "tree_node_tokens", "draft_token_ids",
)  # fmt: skip
_PARENTS = (
    "parents", "parent_indices", "parent", "parent_ids", "tree_parent_indices", "draft_parents",
    "parent_idx", "tree_parent", "node_parents", "parent_index", "tree_parent_ids", "parent_of",
    "parent_array",
)  # fmt: skip
_MODELS = (
    "model", "target", "lm", "target_lm", "logits_fn", "forward_fn", "forward", "target_fn", "model_fn", "f",
    "target_forward", "target_logits_fn", "get_logits", "logits", "verifier_model", "net", "llm", "fn", "m",
    "target_model_fn", "oracle", "target_net", "base_model", "language_model",
)  # fmt: skip
_LENGTH = (
    "prompt_length", "p", "n_prompt", "num_prompt", "prompt_size", "context_len", "prefix_len", "len_prompt",
    "num_prompt_tokens", "prompt_tokens_len", "plen", "prefix_length", "context_length", "start", "offset",
)  # fmt: skip
_END = (
    "eos_id", "eos", "eos_token", "end_token", "end_id", "stop_token", "stop_token_id", "end_token_id",
    "eos_tok", "eos_index", "stop_id", "end_of_text", "end_of_text_id", "eot", "eot_id", "eot_token_id",
    "end_of_sequence", "eos_token_index", "terminator",
)  # fmt: skip
_ENDS = (
    "eos_ids", "eos_tokens", "eos_set", "stop_tokens", "stop_token_ids", "stop_ids", "end_tokens", "end_ids",
    "end_token_ids", "stop_set", "eos_token_set", "eos_list", "terminators", "terminator_ids",
)  # fmt: skip

_TREE = (
    Param("num_nodes", "int", ("n", "n_tree", "tree_size", "num_tree_tokens", "n_nodes"), required=False),
    Param("vocab_size", "int", ("v", "n_vocab", "vocab"), required=False),
    Param("eos_token_id", "int", _END, required=False, named=True),
    Param("eos_token_ids", "data", _ENDS, required=False, named=True),
)
_MASK = Role(
    "mask",
    (
        Param("prompt_len", "int", _LENGTH, required=False),
        Param("tree_parents", "data", _PARENTS),
        Param("prompt", "data", _PROMPT, required=False, spare=True),
        Param("tree_tokens", "data", _TOKENS, required=False, spare=True),
        *_TREE,
    ),
    (Return("mask", "data"),),
    (
        r"^(build|make|create|get|construct|compute)_?tree_?(attention_?|attn_?)?mask$",
        r"tree_?(attention_?|attn_?)?mask",
        r"mask\w*tree",
        r"(build|make|create|construct|compute|get)\w*mask",
        r"mask",
    ),
    avoid=(
        r"(?<![a-z])(?:run_?)?tests?(?![a-z])", r"(?<![a-z])check(?![a-z])", r"benchmark", r"demo", r"naive",
        r"numerical", r"reference", r"\bref_", r"_ref\b", r"brute", r"assert", r"expected",
        r"print|show|plot|visuali|render|format|apply|causal|validate|to_?additive|additive",
        r"(?<![a-z])main(?![a-z])",
    ),
    agrees=lambda value, inputs: _mask_grade(value, inputs),  # noqa: PLW0108 - it stands below
    spellings=spellings,
    enough=0.5,
    sure=2,
)  # fmt: skip
_VERIFY = Role(
    "verify",
    (
        Param("prompt", "data", _PROMPT),
        Param("tree_tokens", "data", _TOKENS),
        Param("tree_parents", "data", _PARENTS),
        Param("target_model", "model", _MODELS, required=False),
        Param("temperature", "float", ("temp", "t", "tau", "sampling_temperature"), required=False),
        Param("prompt_len", "int", _LENGTH, required=False),
        Param("tree_mask", "array", ("mask", "attention_mask", "attn_mask"), required=False, spare=True),
        Param("seed", "int", ("rng_seed", "random_seed"), required=False),
        *_TREE,
    ),
    (Return("outcome", "data"),),
    (
        r"^verify_?and_?accept$",
        r"verif\w*accept|accept\w*verif",
        r"^verify(_?(tree|draft|step|tokens))*$",
        r"verif",
        r"accept",
        r"^(step|decode|run|__call__)$",
    ),
    avoid=(
        r"(?<![a-z])(?:run_?)?tests?(?![a-z])", r"(?<![a-z])check(?![a-z])", r"benchmark", r"demo", r"naive",
        r"reference", r"\bref_", r"_ref\b", r"brute", r"assert", r"expected", r"golden", r"greedy_?decod",
        r"autoregress", r"print|show|plot|visuali", r"mask", r"(?<![a-z])main(?![a-z])",
    ),
    agrees=lambda value, inputs: _verify_grade(value, inputs),  # noqa: PLW0108 - it stands below
    spellings=spellings,
    enough=0.5,
    styles=STYLES,
    sure=4,
)  # fmt: skip


def _sample(rng: np.random.Generator) -> Sample:
    """A tree that holds the three right tokens, wrong siblings, and a right token below a wrong one."""
    free = [int(t) for t in rng.permutation(np.arange(PROMPT_LEN + TREE_SIZE, VOCAB))]
    prompt = tuple(free[:PROMPT_LEN])
    first, second, third, new, wrong, below, aside, last, other = free[PROMPT_LEN : PROMPT_LEN + 9]
    tree = Tree((first, wrong, aside, second, below, third, last), (-1, -1, 0, 0, 1, 3, 5))
    tree = tree.listed(ordered(rng, tree, ORDERS[2]))
    script = stated(rng, VOCAB, {
        prompt: first,
        (*prompt, first): second,
        (*prompt, first, second): third,
        (*prompt, first, second, third): new,
        (*prompt, wrong): below,
    }, other)  # fmt: skip
    inputs = {
        **given(prompt, tree), "target_model": script.model(prompt), "temperature": 0.0, "vocab_size": VOCAB,
        "seed": 0,
    }  # fmt: skip
    return Sample(inputs, {})


def probed(value: Any, inputs: Mapping[str, Any], new: int, places: Mapping[str, Key]) -> tuple[Form, Answer]:
    """How a submission writes its answer, from one to a probe; ``places`` is a binding by hand.

    Raises:
        BadResult: It holds no accepted nodes.
    """
    return settle(value, inputs["prompt"], _tree(inputs), new, places)


def _tree(inputs: Mapping[str, Any]) -> Tree:
    return Tree(tuple(inputs["tree_tokens"]), tuple(inputs["tree_parents"]))


def _verify_grade(value: Any, inputs: Mapping[str, Any]) -> float:
    """How well an answer to the sample agrees: a quarter for each of four signs."""
    tree, rows = _tree(inputs), rows_of(dict(inputs["target_model"].spec))
    path = accepted(rows, inputs["prompt"], tree)
    new = likeliest(rows, (*inputs["prompt"], *path))
    _form, answer = probed(value, inputs, new, {})
    if any(not 0 <= token < VOCAB for token in answer.output):
        raise BadResult("answered with tokens outside the vocabulary")
    drafted = bool(answer.tokens) and tree.drafted(answer.tokens)
    right = answer.tokens == path
    return 0.25 * sum((True, drafted, right, right and answer.new == new))


def _mask_grade(value: Any, inputs: Mapping[str, Any]) -> float:
    """Half a mask's share of right cells, and half for parents that are taken as they are meant.

    They are where each node sees its parent (or is seen by it), whatever else is right or wrong.
    """
    parents = inputs["tree_parents"]
    truth = visibility(inputs["prompt_len"], parents)
    mask = seen(value, truth)
    size = len(parents)
    tree = mask.visible[-size:, -size:]
    linked = tree.shape == (size, size) and all(
        tree[node, parent] or tree[parent, node] for node, parent in enumerate(parents) if parent >= 0
    )
    return 0.5 * mask.share(truth) + 0.5 * linked


CONTRACT = Contract(
    (_MASK, _VERIFY),
    _sample,
    "build_tree_mask(prompt_len, tree_parents) → (P + N, P + N) bool, true = visible; verify_and_accept("
    "prompt, tree_tokens, tree_parents, target_model, temperature) → (accepted, new_token). By hand, args "
    "may name parents_none, parents_flat (places in prompt and tree), parents_one_based, …_array for arrays, "
    "eos_token_id, eos_token_ids (a list), eos_set.",
    timing=TIMING,
)
