"""Names of attempts; outcomes of attempts that are the same, or no longer so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.attempts import attempt_name, attempt_of, attempt_title
from judge_tui.checks.generic import GENERIC
from judge_tui.checks.passing import GENERIC_IDS, Whole, passed
from judge_tui.checks.store import Store, last_outcomes
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Evidence, Outcome, Verdict

WHOLE = Whole({"loads": 1, "right": 2}, {"forward": ("right",)})


def outcome(model: str, check: str, verdict: Verdict = Verdict.PASS, version: int = 1) -> Outcome:
    return Outcome(model, "kv", check, verdict, "told", 0.1, version=version, device="chip")


@pytest.mark.parametrize("name", ["glm5", "glm5@1", "glm5@x", "@2", "glm5@02", "glm5@1000000"])
def test_a_name_without_the_number_of_a_further_attempt_is_the_first(name: str) -> None:
    assert attempt_of(name) == (name, 1)


@pytest.mark.parametrize(("model", "attempt"), [("glm5", 2), ("kimi-k2.6", 999_999), ("a@b", 3)])
def test_a_name_with_a_number_is_an_attempt_and_comes_back(model: str, attempt: int) -> None:
    assert attempt_of(attempt_name(model, attempt)) == (model, attempt)
    assert attempt_name(model, 1) == model


def test_a_title_has_the_number_of_a_further_attempt_behind_it() -> None:
    assert attempt_title("GLM-5", 1) == "GLM-5"
    assert attempt_title("GLM-5", 2) == "GLM-5 @2"


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((Verdict.PASS, Verdict.PASS), True),
        ((Verdict.WARN, Verdict.AMBIGUOUS), True),
        ((Verdict.PASS, Verdict.FAIL), False),
        ((Verdict.FAIL, None), False),
        ((Verdict.PASS, None), None),
        ((Verdict.PASS, Verdict.UNBOUND), None),
        ((Verdict.PASS, Verdict.SKIP), None),
        ((Verdict.PASS, Verdict.ERROR), None),
        ((None, None), None),
    ],
)
def test_an_attempt_passes_where_check_would_exit_0_on_it(
    verdicts: tuple[Verdict | None, Verdict | None], expected: bool | None
) -> None:
    checks = zip(WHOLE.checks.items(), verdicts, strict=True)
    found = [outcome("glm5", check, verdict, v) for (check, v), verdict in checks if verdict is not None]
    assert passed(WHOLE, found) is expected


def test_an_outcome_of_an_older_version_of_its_check_tells_nothing() -> None:
    assert passed(WHOLE, [outcome("a", "loads"), outcome("a", "right", Verdict.FAIL, version=1)]) is None


def test_the_checks_of_every_task_are_known_without_loading_them() -> None:
    assert {check.id for check in GENERIC} == GENERIC_IDS


def test_a_required_word_that_no_measurement_is_about_is_not_judged() -> None:
    whole = Whole({"golden": 1}, {"verify": ("golden: tree",)})
    about = Evidence("chain, accepted", 3, ok=True), Evidence("tree, accepted", 3, ok=True)
    found = [Outcome("a", "kv", "golden", Verdict.PASS, "told", 0.1, about[:1])]
    assert passed(whole, found) is None
    found = [Outcome("a", "kv", "golden", Verdict.PASS, "told", 0.1, about)]
    assert passed(whole, found) is True


@pytest.fixture
def attempts(tmp_path: Path) -> list[Submission]:
    """Two answers of one model that are the same."""
    made = []
    for folder in ("kv", "kv@2"):
        path = tmp_path / "glm5" / folder
        path.mkdir(parents=True)
        (path / "cache.py").write_text("pass\n")
        made.append(Submission.at(path))
    return made


def test_a_folder_with_a_number_is_an_attempt_with_bindings_of_its_own(
    attempts: list[Submission], tmp_path: Path
) -> None:
    assert [(one.model, one.task) for one in attempts] == [("glm5", "kv"), ("glm5@2", "kv")]
    second = Submission.at(attempts[1].path, bindings=tmp_path / "bindings")
    assert second.overlays == (tmp_path / "bindings" / "glm5" / "kv@2",)
    (attempts[1].path / "submission.toml").write_text('model = "GLM-5"\n')
    assert second.title == "GLM-5 @2"


def test_the_same_answers_have_one_stored_verdict_under_the_name_of_each(
    attempts: list[Submission], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    first, second = attempts
    store.chose("kv", "auto", "cpu", ["chip"])
    store.keep([outcome("glm5", "loads")], store.key(first, "cpu", "chip"))
    found = last_outcomes(second, folder=tmp_path)["loads"]
    assert (found.model, found.verdict) == ("glm5@2", Verdict.PASS)


def test_a_mutated_attempt_does_not_change_the_verdicts_of_another(
    attempts: list[Submission], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    first, second = attempts
    store.chose("kv", "auto", "cpu", ["chip"])
    store.keep([outcome("glm5", "loads")], store.key(first, "cpu", "chip"))
    (first.path / "cache.py").write_text("raise ValueError\n")
    first.refresh()
    assert last_outcomes(first, folder=tmp_path) == {}
    store.keep([outcome("glm5", "loads", Verdict.FAIL)], store.key(first, "cpu", "chip"))
    assert last_outcomes(first, folder=tmp_path)["loads"].verdict is Verdict.FAIL
    assert last_outcomes(second, folder=tmp_path)["loads"].verdict is Verdict.PASS


def test_what_judges_a_task_is_remembered_until_the_engine_changes(
    attempts: list[Submission], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, (first, second) = Store(tmp_path), attempts
    assert store.remembered(first) is None
    store.remember(first, WHOLE)
    assert store.remembered(second) == WHOLE
    monkeypatch.setattr("judge_tui.checks.store.engine_stamp", lambda: "another")
    assert store.remembered(first) is None


def test_what_judges_a_challenge_is_remembered_for_its_files(
    attempts: list[Submission], tmp_path: Path
) -> None:
    store, (first, _) = Store(tmp_path), attempts
    (tmp_path / "challenge").mkdir()
    own = replace(first, judged_by=Submission("", "kv", tmp_path / "challenge"))
    store.remember(own, WHOLE)
    assert store.remembered(first) is None
    assert store.remembered(own) == WHOLE
    (tmp_path / "challenge" / "challenge.py").write_text("pass\n")
    changed = replace(first, judged_by=Submission("", "kv", tmp_path / "challenge"))
    assert store.remembered(changed) is None
