"""Overflow of float16 and bfloat16 in the wrong direction of rescaling; NumPy computes them here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.backends import Device, Place
from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.flash_attention import TASK
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.narrow import (
    NARROW,
    Narrow,
    _limit,
    _ramp,
    narrow_accuracy,
    narrow_rescaling,
    recurrence,
)
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Evidence, Verdict

SOURCE = """
import numpy as np

def flash_attention_fwd(Q, K, V, tile_size=8, causal=True):
    B, H, N, D = Q.shape
    T = Q.dtype.type
    O = np.zeros_like(Q)
    for i in range(0, N, tile_size):
        q = Q[:, :, i:i + tile_size]
        m = np.full((B, H, q.shape[2], 1), -np.inf, Q.dtype)
        l = np.zeros_like(m)
        acc = np.zeros_like(q)
        for j in range(0, N, tile_size):
            if causal and j > i + tile_size - 1:
                continue
            s = (q @ K[:, :, j:j + tile_size].swapaxes(-1, -2)) * T(D ** -0.5)
            if causal:
                rows = np.arange(i, i + q.shape[2])[:, None]
                s = np.where(np.arange(j, j + s.shape[-1])[None] > rows, T(-np.inf), s)
            new = NEW
            p = np.exp(s - new)
            f = np.where(np.isfinite(m), np.exp(FACTOR), T(0))
            l = l * f + p.sum(axis=-1, keepdims=True)
            acc = acc * f + p @ V[:, :, j:j + tile_size]
            m = new
        O[:, :, i:i + tile_size] = acc / l
    return O
"""
RIGHT = SOURCE.replace("NEW", "np.maximum(m, s.max(axis=-1, keepdims=True))").replace("FACTOR", "m - new")
REVERSED = RIGHT.replace("np.exp(m - new)", "np.exp(new - m)")
UPSCALING = RIGHT.replace(
    "np.maximum(m, s.max(axis=-1, keepdims=True))",
    "np.where(np.isfinite(m), m, s.max(axis=-1, keepdims=True))",
)
WIDER = RIGHT.replace(
    "    B, H, N, D = Q.shape\n",
    "    Q, K, V = (a.astype(np.float64) for a in (Q, K, V))\n    B, H, N, D = Q.shape\n",
)


each_type = pytest.mark.parametrize("narrow", NARROW, ids=lambda narrow: narrow.name)


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Callable[[str], tuple[Bench, Forward]]]:
    """A bench with a source on it, as a check has it."""
    benches: list[Bench] = []

    def made(source: str) -> tuple[Bench, Forward]:
        (tmp_path / "flash_attention.py").write_text(source)
        bench = Bench(Submission.at(tmp_path, model="m", task="flash_attention"), TASK.contract, seed=3)
        benches.append(bench)
        bench.begin("rescaling_direction", 60.0)
        return bench, Forward(bench)

    yield made
    for bench in benches:
        bench.close()


Ready = Callable[[str], tuple[Bench, Forward]]
Judged = Callable[[Bench, Findings, Forward], None]


def noted(
    ready: Ready, source: str, judge: Judged = narrow_rescaling
) -> tuple[Findings, dict[str, Evidence]]:
    """What was found, and the evidence of each type."""
    bench, forward = ready(source)
    found = Findings()
    judge(bench, found, forward)
    names = {narrow.name for narrow in NARROW}
    told = {name: e for e in found.evidence for name in names if f"in {name}" in e.quantity}
    assert set(told) == names
    return found, told


@pytest.mark.parametrize("judge", [narrow_rescaling, narrow_accuracy])
@pytest.mark.parametrize("source", [RIGHT, WIDER], ids=["in the type throughout", "in a wider type"])
def test_right_code_is_right_in_narrow_types(ready: Ready, source: str, judge: Judged) -> None:
    found, told = noted(ready, source, judge)
    assert found.verdict is Verdict.PASS, told
    assert all(float(e.measured or 0) > 0 for e in told.values()), "it was computed in them"


@pytest.mark.parametrize("source", [REVERSED, UPSCALING], ids=["reversed", "upscaling"])
def test_the_wrong_direction_overflows_and_warns(ready: Ready, source: str) -> None:
    found, told = noted(ready, source)
    assert found.verdict is Verdict.WARN
    for evidence in told.values():
        assert evidence.ok is False
        table = {row[0]: row[1:] for row in evidence.table[1:]}
        assert table["maxima rising"][0] == "nan", "rows that are not finite"
        assert float(table["maxima constant"][0]) < float(table["maxima constant"][1])


def test_tiles_that_are_left_out_show_in_narrow_types_too(ready: Ready) -> None:
    wrong = RIGHT.replace("for j in range(0, N, tile_size)", "for j in range(0, N - tile_size, tile_size)")
    found, _told = noted(ready, wrong, narrow_accuracy)
    assert found.verdict is Verdict.WARN


@each_type
@pytest.mark.parametrize("causal", [False, True])
def test_the_recurrence_overflows_while_maxima_rise_and_not_while_they_stay(
    tmp_path: Path, narrow: Narrow, causal: bool
) -> None:
    bench = Bench(Submission.at(tmp_path, model="m", task="flash_attention"), TASK.contract, seed=1)
    rising, constant = (_ramp(bench, narrow, kind, causal) for kind in ("rising", "constant"))
    sound = relative_error(recurrence(rising, narrow), rising.truth)
    assert sound < _limit(rising, narrow, sound)
    for direction in ("reversed", "upscaling"):
        assert not np.isfinite(recurrence(rising, narrow, direction)).all()  # type: ignore[arg-type]
        kept = recurrence(constant, narrow, direction)  # type: ignore[arg-type]
        assert relative_error(kept, constant.truth) < _limit(constant, narrow, 0.0)


@each_type
def test_code_that_does_not_take_a_type_is_not_warned_of_and_nothing_is_refused(
    ready: Ready, narrow: Narrow
) -> None:
    head = "    T = Q.dtype.type\n"
    check = f"    if T.__name__ == '{narrow.name}':\n        raise TypeError('float32 or float64')\n"
    found, told = noted(ready, RIGHT.replace(head, head + check))
    assert found.verdict is Verdict.PASS
    assert told[narrow.name].ok is None
    assert "float32 or float64" in told[narrow.name].note


@each_type
def test_code_that_ends_its_process_in_a_type_ends_nothing_else(ready: Ready, narrow: Narrow) -> None:
    head = "    T = Q.dtype.type\n"
    crash = f"    if T.__name__ == '{narrow.name}':\n        import os; os._exit(3)\n"
    bench, forward = ready(RIGHT.replace(head, head + crash))
    worker = bench.worker
    found = Findings()
    narrow_rescaling(bench, found, forward)
    assert found.verdict in (Verdict.PASS, None)
    assert worker.alive


@pytest.mark.parametrize("check", ["accuracy", "rescaling_direction"])
def test_on_a_device_both_types_are_asked_for(
    check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "doubles"))
    (tmp_path / "flash_attention.py").write_text(RIGHT)
    submission = Submission.at(tmp_path, model="m", task="flash_attention")
    place = Place("gpu", Device("0", "a double"), "strict_cupy")
    outcome = judge(TASK, submission, seed=3, checks=[check], place=place)[check]
    told = [evidence for evidence in outcome.evidence if "float16" in evidence.quantity]
    assert [evidence.ok for evidence in told] == [True, True], outcome
