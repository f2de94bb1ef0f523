"""What cannot be judged says why, and a binding by hand is kept to."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.runner import run_check
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.dflash_verify import TASK
from judge_tui.checks.tasks.dflash_verify.handing import spellings
from judge_tui.checks.verdict import Verdict

MASK = """
import numpy as np
def build_tree_mask(prompt_len, tree_parents):
    mask = np.tri(prompt_len + len(tree_parents), dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(len(tree_parents), dtype=bool)
    for i, p in enumerate(tree_parents):
        if p is not None and p >= 0:
            mask[prompt_len + i] |= mask[prompt_len + p]
    return mask
"""
VERIFY = "def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):\n    "


def judged(folder: Path, files: dict[str, str], check: str = "parent_logits") -> tuple[Verdict, str]:
    place = folder / "someone" / "dflash_verify"
    place.mkdir(parents=True)
    for name, text in files.items():
        (place / name).write_text(text)
    bench = Bench(Submission.at(place), TASK.contract, seed=5)
    try:
        outcome = run_check(TASK, TASK.by_id[check], bench)
        return outcome.verdict, outcome.summary
    finally:
        bench.close()


@pytest.mark.parametrize(
    ("body", "verdict", "words"),
    [
        ("return acepted, 0", Verdict.FAIL, "NameError"),
        ("return None", Verdict.UNBOUND, "answered with nothing"),
        ("return 3, 36", Verdict.UNBOUND, "how many nodes"),
        ("return 'accepted', 'token'", Verdict.UNBOUND, "did not ask"),
        ("target_model(1, 2, 3)\n    return [], 0", Verdict.UNBOUND, "without token ids"),
    ],
)
def test_what_cannot_be_judged_says_why(tmp_path: Path, body: str, verdict: Verdict, words: str) -> None:
    found, summary = judged(tmp_path, {"code.py": MASK + VERIFY + body})
    assert (found, words in summary) == (verdict, True), summary


def test_a_binding_by_hand_says_where_things_are(tmp_path: Path) -> None:
    code = """
import numpy as np
def visibility(links, where):
    mask = np.eye(where + len(links), dtype=bool)
    for i in range(1, len(mask)):
        mask[i] |= mask[i - 1 if i < where else links[i - where]]
    return mask
def go(f, words, links, text):
    size, route = len(text), []
    rows = f(np.array([*text, *words]), visibility(links, size))
    at = size - 1
    while True:
        want = int(rows[at].argmax())
        kids = [size + i for i, link in enumerate(links) if link == at and words[i] == want]
        if not kids:
            return {"bonus": want, "debug": [1, 2, 3], "route": route}
        at = kids[0]
        route.append(at)
"""
    table = """
[binding.mask]
target = "odd.py:visibility"
args = ["parents_flat", "prompt_len"]
[binding.verify]
target = "odd.py:go"
args = ["target_model", "tree_tokens", "parents_flat", "prompt"]
returns = { accepted = "['route']", new_token = "['bonus']" }
"""
    verdict, summary = judged(tmp_path, {"odd.py": code, "submission.toml": table})
    assert verdict is Verdict.PASS, summary


def test_parents_are_offered_in_groups_and_kept_where_a_person_chose() -> None:
    names = ("prompt", "tree_tokens", "tree_parents", "target_model")
    binding = Binding("verify", "a.py", "f", tuple(map(Argument, names)), {})
    groups = [[tuple(a.source for a in way.args) for way in group] for group in spellings(binding)]
    assert groups[0][0] == names
    assert [len(group) for group in groups] == [2, 1, 2, 2]
    assert all(way[3] == "target_model" for group in groups for way in group)
    chosen = Binding("verify", "a.py", "f", (Argument("prompt"), Argument("parents_none")), {})
    assert list(spellings(chosen)) == [(chosen,)]
