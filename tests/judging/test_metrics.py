"""Figures of checks side by side: each with its unit and limit, and what is missing is told."""

from __future__ import annotations

from typing import Any

import pytest

from judge_tui.checks.errors import UsageError
from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.blind import BlindMark
from judge_tui.judging.card import Scorecard
from judge_tui.judging.exchange.going_out import records
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.parts import Prose, Table
from judge_tui.judging.workspace import Workspace


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def _keep(workspace: Workspace, model: str, measured: float, *, seed: int = 1, limit: float = 1e-6) -> None:
    store, submission = Store(), workspace.submission(model, "kv")
    figure = Evidence("dx, relative error per row, float64", measured, limit, ok=measured <= limit)
    verdict = Verdict.PASS if measured <= limit else Verdict.FAIL
    outcome = Outcome(
        model, "kv", "accuracy", verdict, "said", 1.0, (figure,), seed, device="chip", sandbox="full"
    )
    store.keep([outcome], store.key(submission, "cpu", "chip"))
    store.chose("kv", "auto", "cpu", ["chip"])


def _rows(workspace: Workspace, *models: str) -> tuple[list[list[str]], list[list[str]], list[str]]:
    report = report_of(workspace, Asked("metrics", models, ("kv",)))
    tables = [part for part in report.parts if isinstance(part, Table)]
    prose = [part.text for part in report.parts if isinstance(part, Prose)]
    verdicts, figures = ([[cell.text for cell in row] for row in table.rows] for table in tables)
    return verdicts, figures, prose


def test_figures_stand_side_by_side_with_their_limit(workspace: Workspace) -> None:
    _keep(workspace, "glm5", 1.234e-9)
    _keep(workspace, "qwen36", 0.5)
    verdicts, figures, prose = _rows(workspace, "qwen36", "glm5")
    assert verdicts == [["accuracy", "fail", "pass"]]
    assert figures == [["accuracy", "dx, relative error per row, float64", "", "1e-06", "0.5 ✗", "1.23e-09"]]
    assert prose[0] == "Measured with backend cpu chip; sandbox full; seed 1."


def test_limits_of_their_own_stand_beside_the_figures(workspace: Workspace) -> None:
    _keep(workspace, "glm5", 1e-9, limit=1e-6)
    _keep(workspace, "qwen36", 1e-9, limit=1e-5)
    _, figures, _ = _rows(workspace)
    assert figures[0][3:] == ["per submission", "1e-09 of 1e-06", "1e-09 of 1e-05"]


def test_figures_of_one_seed_are_compared_where_all_have_them(workspace: Workspace) -> None:
    _keep(workspace, "glm5", 1e-9, seed=1)
    _keep(workspace, "qwen36", 2e-9, seed=1)
    _keep(workspace, "glm5", 3e-9, seed=1)
    _keep(workspace, "glm5", 4e-9, seed=2)
    assert _rows(workspace)[2][0].endswith("seeds 1, 2.")
    _keep(workspace, "qwen36", 5e-9, seed=2)
    assert _rows(workspace)[1][0][4:] == ["4e-09", "5e-09"]


def test_timings_of_different_machines_are_left_out_and_told(workspace: Workspace) -> None:
    for model, host in (("glm5", "one"), ("qwen36", "other")):
        store, submission = Store(), workspace.submission(model, "kv")
        items = (Evidence("seconds of a call", 1.0, unit="s"), Evidence("bytes held", 8, unit="B"))
        outcome = Outcome(
            model, "kv", "cost", Verdict.PASS, "said", 1.0, items, 1, device="chip", sandbox="full", host=host
        )
        store.keep([outcome], store.key(submission, "cpu", "chip"))
        store.chose("kv", "auto", "cpu", ["chip"])
    _, figures, prose = _rows(workspace)
    assert [row[1] for row in figures] == ["bytes held"]
    assert prose[1].startswith("Timings of cost were taken on different machines (one, other) and are not")


def test_what_was_not_run_is_told_with_its_command(workspace: Workspace) -> None:
    with pytest.raises(UsageError) as raised:
        report_of(workspace, Asked("metrics", ("glm5",), ("kv",)))
    assert raised.value.hint == "Run some: judge-tui check glm5 --task kv"
    _keep(workspace, "glm5", 1e-9)
    report = report_of(workspace, Asked("metrics", ("glm5", "qwen36"), ("kv",)))
    assert isinstance(report.parts[-1], Prose)
    assert report.parts[-1].text.endswith("judge-tui check qwen36 --task kv")


def test_a_command_is_shown_for_what_is_there(workspace: Workspace) -> None:
    with pytest.raises(UsageError) as raised:
        report_of(workspace, Asked("metrics"))
    assert raised.value.hint == "Run some: judge-tui check glm5 --task kv"


def test_a_changed_file_has_no_figures(workspace: Workspace) -> None:
    _keep(workspace, "glm5", 1e-9)
    (workspace.submission("glm5", "kv").path / "kv_cache.py").write_text("x = 1\n")
    with pytest.raises(UsageError):
        report_of(Workspace.at(workspace.root), Asked("metrics", ("glm5",), ("kv",)))


def _score(workspace: Workspace, model: str, *, judge: str = "anna", **more: Any) -> None:
    card = Scorecard("kv", model, judge, submission="sha256:0", **more).with_score("correctness", 80)
    save_scorecard(workspace.scorecard_path("kv", model, judge), card, None)


def test_where_blind_is_the_rule_figures_wait_for_a_person_to_score(workspace: Workspace) -> None:
    _keep(workspace, "glm5", 1e-9)
    _keep(workspace, "qwen36", 2e-9)
    (workspace.root / "judge-tui.toml").write_text("[blind]\nalways = true\n")
    _score(workspace, "glm5", judge="gpt", judge_kind="model")
    with pytest.raises(UsageError, match="glm5, qwen36 on kv: judged blind"):
        report_of(Workspace.at(workspace.root), Asked("metrics", (), ("kv",)))
    _score(workspace, "qwen36")
    report = report_of(Workspace.at(workspace.root), Asked("metrics", (), ("kv",)))
    assert list(report.models) == ["qwen36"]
    assert report.faults == ("glm5 on kv: judged blind, and the names are not revealed yet.",)


def test_figures_of_a_sealed_answer_stand_in_no_report_and_go_nowhere(workspace: Workspace) -> None:
    _keep(workspace, "glm5", 1e-9)
    _keep(workspace, "qwen36", 2e-9)
    _score(workspace, "glm5", blind=BlindMark(began="2026-03-01"))
    assert list(report_of(workspace, Asked("metrics", (), ("kv",))).models) == ["qwen36"]
    faults: list[str] = []
    out = list(records(workspace, (), ["kv"], (), faults, outcomes=True))
    assert [record["model"] for record in out] == ["qwen36"]
    assert "the outcomes of glm5 on kv stay here until it is judged and revealed." in faults
