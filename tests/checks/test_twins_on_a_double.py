"""A part of the twins and mutants on a strict double of CuPy: nothing here runs on a GPU.

``benchmarks/bench_gpu.py --fake --parts specimens`` runs all of them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.backends import Device, Place
from judge_tui.checks.specimens import judged, specimens, unexpected
from judge_tui.checks.task import load_task

HERE = Path(__file__).parent
PLACE = Place("gpu", Device("0", "a double"), "strict_cupy")
#: Task and kind → check, and every how many-th specimen.
PARTS = {
    ("backwards", "twins", "gradients"): 14,
    ("backwards", "mutants", "gradients"): 18,
    ("flash_attention", "twins", "accuracy"): 12,
    ("flash_attention", "mutants", "rescaling_direction"): 18,
    ("beam_search", "twins", "greedy_equivalence"): 24,
    ("dflash_verify", "twins", "tree_mask"): 24,
}


def chosen() -> list[tuple[str, str, str]]:
    found = []
    for (task, kind, check), every in PARTS.items():
        known = specimens(HERE / "tasks" / task, load_task(task))
        part = [s for s in known if s.wrong is (kind == "mutants") and check in s.expected][::every]
        found += [(task, f"{kind}/{specimen.path.name}", check) for specimen in part]
    return found


@pytest.mark.parametrize(("task", "name", "check"), chosen())
def test_a_specimen_gets_the_verdict_that_it_gets_on_numpy(
    task: str, name: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(HERE / "doubles"))
    known = load_task(task)
    specimen = next(
        s for s in specimens(HERE / "tasks" / task, known)
        if s.path.name == name.partition("/")[2] and s.wrong is name.startswith("mutants")
    )  # fmt: skip
    outcome = judged(specimen, replace(known), seed=20_251, checks=[check], place=PLACE)[check]
    if outcome.summary.startswith("not portable to the GPU: "):
        assert (outcome.verdict, outcome.location is not None) == ("skip", True)
        return
    assert not unexpected(specimen, {check: outcome.verdict}), outcome.summary
    assert outcome.backend == "gpu"
