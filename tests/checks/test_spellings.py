"""Right code in spellings of all kinds binds without a table, gives right numbers, and is judged rightly."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.tables import table, tables
from judge_tui.checks.bound import searched
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.beam_search.searching import Search
from judge_tui.checks.tasks.flash_attention.cases import drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict
from judge_tui.judging.sidefiles import write_bindings

from . import goldens

HERE = Path(__file__).parent / "spellings"
#: Spellings whose verdicts are tried as well, with the checks that tell most.
JUDGED = {
    "backwards": (
        ("gradients", "cache_minimality", "purity"),
        ("rows_only", "callers_dict", "callers_list", "autograd_function", "parameters_as_one", "decorated"),
    ),
    "flash_attention": (("accuracy",), ("one_head_with_lse", "one_sequence_tokens_first", "settings_dict")),
    "beam_search": (("length_penalty",), ("keywords_batch", "package_model", "config_object")),
}
#: Not in the contract's own axes: a judge is told, and no more.
TOLD = {"one_head_with_lse", "one_sequence_tokens_first"}


def spellings(task: str) -> list[Path]:
    return sorted(path for path in (HERE / task).iterdir() if path.is_dir() or path.suffix == ".py")


def submitted(source: Path, task: str, folder: Path) -> Submission:
    place = folder / "somebody" / task
    if source.is_dir():
        shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        place.mkdir(parents=True)
        shutil.copy(source, place)
    return Submission.at(place)


@pytest.fixture
def bench_on(tmp_path: Path) -> Iterator[Callable[[Path, str], Bench]]:
    made: list[Bench] = []

    def make(source: Path, task: str) -> Bench:
        bench = Bench(submitted(source, task, tmp_path), load_task(task).contract, seed=8)
        bench.begin("spelling", 60.0)
        made.append(bench)
        return bench

    yield make
    for bench in made:
        bench.close()


@pytest.mark.parametrize("source", spellings("backwards"), ids=lambda path: path.stem)
def test_a_layer_norm_binds_and_its_gradients_are_right(
    source: Path, bench_on: Callable[[Path, str], Bench]
) -> None:
    bench = bench_on(source, "backwards")
    for draw in range(2):
        inputs = dict(bench.contract.sample(np.random.default_rng(draw)).inputs)
        # Two forwards before the first one's backward would tell a shared cache, which no contract forbids.
        forward = bench.call("forward", inputs)
        kept = {name: forward.handle(name) for name in ("cache", "layer") if forward.has(name)}
        backward = bench.call("backward", {**inputs, **kept})
        eps = inputs["eps"] if bench.binding("forward").takes("eps") else 1e-5
        batch = reference.Batch(inputs["x"], inputs["gamma"], inputs["beta"], eps, inputs["dy"])
        truth = reference.gradients(batch)
        assert relative_error(forward.array("y", batch.shape), reference.forward(batch)) < 1e-6
        for name, shape in (("dx", batch.shape), ("dgamma", (batch.width,)), ("dbeta", (batch.width,))):
            assert relative_error(backward.array(name, shape), getattr(truth, name)) < 1e-6, name


@pytest.mark.parametrize("source", spellings("flash_attention"), ids=lambda path: path.stem)
def test_an_attention_binds_and_its_output_is_right(
    source: Path, bench_on: Callable[[Path, str], Bench]
) -> None:
    bench = bench_on(source, "flash_attention")
    forward = Forward(bench)
    for draw, causal in enumerate(forward.causal):
        case = drawn(bench.rng(draw), (2, 3, 11, 4), 4, causal)
        assert relative_error(forward(case), case.truth) < 1e-6


@pytest.mark.parametrize("name", ["config_class", "mask_type_word"])
def test_what_an_attention_can_be_told_it_is_told(name: str, bench_on: Callable[[Path, str], Bench]) -> None:
    forward = Forward(bench_on(HERE / "flash_attention" / f"{name}.py", "flash_attention"))
    assert forward.causal == (True, False)
    assert forward.tiled


@pytest.mark.parametrize("source", spellings("beam_search"), ids=lambda path: path.stem)
def test_a_search_binds_and_its_answer_fits_the_probe(
    source: Path, bench_on: Callable[[Path, str], Bench]
) -> None:
    bench = bench_on(source, "beam_search")
    assert bench.binding("search").why.endswith("its answer fits the probe to 100%")
    assert Search(bench).form.score is not None


@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task, (_checks, names) in JUDGED.items() for name in names]
)
def test_unusual_spellings_are_judged_as_usual_ones(task: str, name: str, tmp_path: Path) -> None:
    source = next(path for path in spellings(task) if path.stem == name)
    outcomes = judge(load_task(task), submitted(source, task, tmp_path), seed=4, checks=JUDGED[task][0])
    expected = Verdict.WARN if name in TOLD else Verdict.PASS
    assert {outcome.verdict for outcome in outcomes.values()} == {expected}, outcomes


@pytest.mark.parametrize(
    ("task", "source"),
    [(task, source) for task in JUDGED for source in spellings(task)],
    ids=lambda value: value if isinstance(value, str) else value.stem,
)
def test_what_is_written_of_it_binds_to_the_same(
    task: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    submission = submitted(source, task, tmp_path)
    with goldens.searches(monkeypatch) as search:
        before = searched(load_task(task), submission, seed=1).found
    goldens.held(search, task, f"spellings/{source.stem}", record_property)
    write_bindings(submission.path, tables(before))
    after = searched(load_task(task), Submission.at(submission.path), seed=2).found
    assert {role: table(binding) for role, binding in after.items()} == {
        role: table(binding) for role, binding in before.items()
    }
    assert {binding.origin for binding in after.values()} == {"submission.toml"}


def test_there_are_spellings_of_every_kind() -> None:
    counts = {task: len(spellings(task)) for task in JUDGED}
    assert counts["backwards"] >= 15
    assert counts["flash_attention"] >= 8
    assert counts["beam_search"] >= 7


@pytest.mark.parametrize(
    ("returned", "verdict"),
    [
        ("[(dout * h).sum((0, 1)), dout.sum((0, 1)), dx]", Verdict.PASS),
        ("[dout.sum((0, 1)), (dout * h).sum((0, 1)), dx]", Verdict.PASS),
        ("{'dgamma': dout.sum((0, 1)), 'dbeta': (dout * h).sum((0, 1)), 'dx': dx}", Verdict.FAIL),
        ("[dout.sum((0, 1)), (dout * h).mean((0, 1)), dx]", Verdict.FAIL),
    ],
    ids=["unnamed", "unnamed in another order", "named wrongly", "unnamed and wrong"],
)
def test_gradients_that_nothing_names_may_come_in_any_order_and_no_others(
    returned: str, verdict: Verdict, tmp_path: Path
) -> None:
    submission = submitted(HERE / "backwards" / "returns_list.py", "backwards", tmp_path)
    code = submission.path / "returns_list.py"
    head, _return, _rest = code.read_text().rpartition("    return [dout.sum")
    dx = "r*(g-g.mean(-1,keepdims=True)-h*(g*h).mean(-1,keepdims=True))"
    code.write_text(f"{head}    dx = {dx}\n    return {returned}\n")
    outcomes = judge(load_task("backwards"), Submission.at(submission.path), seed=4, checks=["gradients"])
    assert outcomes["gradients"].verdict is verdict


def test_what_is_wrong_stays_wrong_in_every_spelling(tmp_path: Path) -> None:
    """The unusual ways of calling must not make a wrong answer right: dx without its projection."""
    for name in ("rows_only", "callers_dict", "autograd_function", "parameters_as_one"):
        folder = tmp_path / name
        submission = submitted(HERE / "backwards" / f"{name}.py", "backwards", folder)
        code = submission.path / f"{name}.py"
        text = code.read_text()
        wrong = text
        for term in (
            " - xhat * (g * xhat).mean(axis=1, keepdims=True)", " - n * (d * n).mean(-1, keepdims=True)",
            " - xhat * c1", " - xhat * (g * xhat).mean(-1, keepdims=True)",
        ):  # fmt: skip
            wrong = wrong.replace(term, "")
        assert wrong != text
        code.write_text(wrong)
        outcomes = judge(load_task("backwards"), Submission.at(submission.path), seed=4, checks=["gradients"])
        assert outcomes["gradients"].verdict is Verdict.FAIL, name
