"""Sizes of inputs hang on the seed, in every check that calls a submission to see whether it is right."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling import handover
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Verdict

HERE = Path(__file__).parent / "tasks"
#: Right code of each task.
SUBJECTS = {
    "backwards": "class_attributes",
    "beam_search": "module_function",
    "dflash_verify": "engine_class",
    "flash_attention": "class_based",
    "flash_attention_bwd": "batched_matmul",
    "kv": "attention_layer",
    "ternary_training": "columns",
}
#: Checks whose sizes are the contract's own, or that call nothing.
FIXED = {
    "gradient_cost": "the contract states (2, 128, 1024)",
    "memory_model": "figures are compared for configurations, which are drawn as numbers",
    "convergence": "reads logs",
}


def sizes_by_check(
    task: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Counter[tuple[int, ...]]], dict[str, Verdict]]:
    """Check id → shapes of arrays, lengths of lists and vocabularies that were handed over, and how often."""
    told: defaultdict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
    now = [""]
    begin, pack, add, wire = (
        Bench.begin,
        handover.Packer._array,
        handover.Handed.add,
        handover.Packer.__call__,
    )

    def begun(bench: Bench, check: str, budget: float) -> None:
        now[0] = check
        begin(bench, check, budget)

    def packed(packer: handover.Packer, array: np.ndarray) -> dict[str, object]:
        told[now[0]][array.shape] += 1
        return pack(packer, array)

    def added(handed: handover.Handed, keep: int, array: np.ndarray) -> None:
        told[now[0]][array.shape] += 1
        add(handed, keep, array)

    def written(packer: handover.Packer, value: object) -> object:
        if isinstance(value, list):
            told[now[0]][len(value),] += 1
        if isinstance(value, handover.Scripted) and (vocab := value.spec.get("vocab_size")):
            told[now[0]][int(vocab),] += 1
        return wire(packer, value)

    with monkeypatch.context() as patch:
        patch.setattr(Bench, "begin", begun)
        patch.setattr(handover.Packer, "_array", packed)
        patch.setattr(handover.Packer, "__call__", written)
        patch.setattr(handover.Handed, "add", added)
        checks = [
            check.id
            for check in load_task(task).checks
            if check.id not in {g.id for g in GENERIC} | FIXED.keys()
        ]
        [specimen] = [
            s for s in specimens(HERE / task, load_task(task)) if s.name == SUBJECTS[task] and not s.wrong
        ]
        outcomes = judged(specimen, load_task(task), seed=seed, checks=checks)
    return dict(told), {check: outcome.verdict for check, outcome in outcomes.items()}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=pytest.mark.campaign if task.startswith("flash_attention") else ())
        for task in SUBJECTS
    ],
)
def test_another_seed_draws_other_sizes(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (one, verdicts), (two, _) = (sizes_by_check(task, seed, monkeypatch) for seed in (1, 2))
    called = [check for check, verdict in verdicts.items() if verdict is not Verdict.SKIP and one.get(check)]
    assert called
    assert [check for check in called if one[check] == two[check]] == []


def test_sizes_are_of_their_range_and_hang_on_the_generator_alone() -> None:
    def drawn(seed: int) -> list[object]:
        sizes = Sizes(np.random.default_rng(seed))
        return [
            *(sizes.between(1, 100) for _ in range(200)),
            *(sizes.multiple(8, 9, 70) for _ in range(50)),
            sizes.shape((1, 2), (3, 3)),
            sizes.each_large(((1, 3), (1, 3)), ((10, 20), (0, 0))),
            sizes.one_of((5, 7)),
        ]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    found = drawn(3)
    between, multiples = found[:200], found[200:250]
    assert {1, 100} & set(between)
    assert all(isinstance(n, int) and 1 <= n <= 100 for n in between)
    assert {16, 24, 32, 40, 48, 56, 64} >= set(multiples)
    (small, three), large, one = found[250:]
    assert small in (1, 2)
    assert three == 3
    assert [10 <= a <= 20 and 1 <= b <= 3 for a, b in large] == [True]
    assert one in (5, 7)
