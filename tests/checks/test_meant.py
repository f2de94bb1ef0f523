"""What is a role beyond doubt and does not play it fails; what nobody can tell is unbound."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Outcome, Verdict

ATTENTION = """
    import numpy as np

    def flash_attention_fwd(Q, K, V, tile_size=4, causal=True):
        B, H, N, D = Q.shape
        O = np.empty_like(Q)
        for i in range(0, N, tile_size):
            rows = slice(i, min(i + tile_size, N))
            s = Q[:, :, rows] @ K.swapaxes(2, 3) / D**0.5
            if causal:
                s = np.where(np.tril(np.ones((N, N), bool))[rows], s, -np.inf)
            p = np.exp(s - s.max(-1, keepdims=True))
            O[:, :, rows] = p @ V / p.sum(-1, keepdims=True)
        return O
"""
SEARCH = """
    import numpy as np

    def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
        return [_best(model, p, beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]

    def _best(model, prompt, k, steps, alpha, eos):
        beams = [([], 0.0, False)]
        for _ in range(steps):
            grown = [b for b in beams if b[2]]
            for tokens, score, done in beams:
                if not done:
                    logp = np.asarray(model(list(prompt) + tokens))
                    logp = logp.reshape(-1, logp.shape[-1])[-1]
                    for t in np.argsort(-logp)[:k]:
                        grown.append((tokens + [int(t)], score + float(logp[t]), int(t) == eos))
            beams = sorted(grown, key=lambda b: -b[1] / len(b[0]) ** alpha)[:k]
        return [(tokens, score / len(tokens) ** alpha) for tokens, score, _ in beams]
"""
TREE = """
    import numpy as np

    def build_tree_mask(prompt_len, tree_parents):
        n = len(tree_parents)
        mask = np.tril(np.ones((prompt_len + n, prompt_len + n), bool))
        mask[prompt_len:, prompt_len:] = np.eye(n, dtype=bool)
        for i, parent in enumerate(tree_parents):
            if parent >= 0:
                mask[prompt_len + i, prompt_len:] |= mask[prompt_len + parent, prompt_len:]
        return mask
"""


def _outcome(tmp_path: Path, task: str, check: str, source: str, *changed: tuple[str, str]) -> Outcome:
    text = dedent(source)
    for old, new in changed:
        assert old in text
        text = text.replace(old, new)
    folder = tmp_path / "somebody" / task
    folder.mkdir(parents=True)
    folder.joinpath("answer.py").write_text(text)
    return judge(load_task(task), Submission.at(folder), seed=3, checks=[check])[check]


RIGHT = [
    ("flash_attention", "accuracy", ATTENTION),
    ("beam_search", "greedy_equivalence", SEARCH),
    ("dflash_verify", "tree_mask", TREE),
]


@pytest.mark.parametrize(("task", "check", "source"), RIGHT, ids=[task for task, _, _ in RIGHT])
def test_the_right_ones_pass(tmp_path: Path, task: str, check: str, source: str) -> None:
    assert _outcome(tmp_path, task, check, source).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("task", "check", "source", "old", "new", "said"),
    [
        ("flash_attention", "accuracy", ATTENTION, "s.max(-1,", "s.max(4,", "AxisError"),
        ("flash_attention", "accuracy", ATTENTION, "K.swapaxes(2, 3)", "K", "ValueError"),
        ("flash_attention", "accuracy", ATTENTION, "return O", "return O[:, :, 1:]", "shape"),
        ("beam_search", "greedy_equivalence", SEARCH, "b[1] / len(b[0])", "b[3] / len(b[0])", "IndexError"),
        ("beam_search", "greedy_equivalence", SEARCH, "tokens + [int(t)]", "tokens - [int(t)]", "TypeError"),
        ("dflash_verify", "tree_mask", TREE, "np.eye(n,", "np.eye(n + 1,", "ValueError"),
    ],
    ids=["axis", "untransposed", "shape", "index", "list", "mask"],
)
def test_what_raises_or_answers_in_another_shape_on_every_call_fails(
    tmp_path: Path, task: str, check: str, source: str, old: str, new: str, said: str
) -> None:
    outcome = _outcome(tmp_path, task, check, source, (old, new))
    assert outcome.verdict is Verdict.FAIL
    assert said in outcome.summary
    assert "answer.py" in f"{outcome.summary} {outcome.location}"


@pytest.mark.parametrize(
    ("task", "check", "source", "old", "new"),
    [
        # it says itself what it does not take
        (
            "flash_attention",
            "accuracy",
            ATTENTION,
            "    O = np",
            "    assert Q.dtype == np.float16\n    O = np",
        ),
        ("flash_attention", "accuracy", ATTENTION, "B, H, N, D = Q.shape", "B, H, G, N, D = Q.shape"),
        # it takes something that no contract speaks of
        ("flash_attention", "accuracy", ATTENTION, "V, tile_size=4", "V, plan, tile_size=4"),
        # its name says something else
        (
            "flash_attention",
            "accuracy",
            ATTENTION,
            "def flash_attention_fwd",
            "def softmax_attention",
        ),
        # its model is met in a way of its own
        ("beam_search", "greedy_equivalence", SEARCH, "model(list(prompt) + tokens)", "model.ask(tokens)"),
        ("beam_search", "greedy_equivalence", SEARCH, "model(list(prompt) + tokens)", "model(tokens)['row']"),
    ],
    ids=["refuses a dtype", "another rank", "a plan", "another name", "a method", "a key"],
)
def test_what_nobody_can_tell_is_unbound(
    tmp_path: Path, task: str, check: str, source: str, old: str, new: str
) -> None:
    broken = [("s.max(-1,", "s.max(4,")] if new.endswith("softmax_attention") or "plan" in new else []
    changed = [(old, new), *broken]
    assert _outcome(tmp_path, task, check, source, *changed).verdict is Verdict.UNBOUND
