"""Versions of formats: migrations in their order, files without a version, and those of a newer one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.runner import judge
from judge_tui.checks.schema import MATCHUPS, SCORECARD, SUBMISSION, Format
from judge_tui.checks.submission import Submission, read_meta
from judge_tui.checks.task import Task

from .test_odd_submissions import RIGHT

Submit = Callable[..., Submission]
HERE = Path("recipe.toml")
ROOT = Path(__file__).parents[2]
#: What are no versions, as TOML writes them.
MALFORMED = ['"two"', "0", "-1", "true", "1.5", "1" + "0" * 30, "[2]", "{ a = 1 }", "1979-05-27"]


def grams(raw: dict[str, Any]) -> dict[str, Any]:
    """Version 2 says the flour in grams, and the oven's heat in degrees Celsius."""
    raw["grams"] = raw.pop("ounces") * 28
    if "oven" in raw:
        raw["oven"]["celsius"] = (raw["oven"].pop("fahrenheit") - 32) * 5 // 9
    return raw


def listed(raw: dict[str, Any]) -> dict[str, Any]:
    """Version 3 has a list of what goes in."""
    kept = {key: value for key, value in raw.items() if key != "grams"}
    return kept | {"flour": {"grams": raw["grams"]}}


RECIPE = Format("recipe", "nobody bakes it", (grams, listed))


def test_the_present_version_is_what_the_migrations_lead_to() -> None:
    assert RECIPE.version == 3
    assert {SCORECARD.version, MATCHUPS.version, SUBMISSION.version} == {1}


@pytest.mark.parametrize("stated", [{}, {"schema": 1}])
def test_an_old_file_is_brought_up_by_every_migration_in_order_and_keeps_what_is_unknown(
    stated: dict[str, Any],
) -> None:
    raw = stated | {"title": "bread", "ounces": 10, "mine": {"deep": [1, {"a": 2}]}}
    raw["oven"] = {"fahrenheit": 392, "rack": "low"}
    before = copy.deepcopy(raw)
    found = RECIPE.read(raw, "", HERE)
    assert found.raw == {
        "title": "bread",
        "mine": {"deep": [1, {"a": 2}]},
        "oven": {"celsius": 200, "rack": "low"},
        "flour": {"grams": 280},
        "schema": 3,
    }
    assert (found.version, found.migrated) == (3, True)
    # what was read is not changed under the hands of others
    assert raw == before


def test_a_file_in_the_middle_goes_through_the_later_migrations_alone() -> None:
    found = RECIPE.read({"schema": 2, "grams": 5}, "", HERE)
    assert found.raw == {"schema": 3, "flour": {"grams": 5}}


def test_a_file_of_the_present_version_comes_back_as_it_is() -> None:
    again = RECIPE.read(RECIPE.read({"ounces": 1, "odd": "kept"}, "", HERE).raw, "", HERE)
    assert again.raw == {"odd": "kept", "schema": 3, "flour": {"grams": 28}}
    assert not again.migrated
    # one that does not state it is version 1, and gains no key by being read
    assert "schema" not in SCORECARD.read({"task": "kv"}, "", HERE).raw


def test_one_of_a_newer_version_is_told_in_one_sentence_with_its_line() -> None:
    text = 'title = "bread"\n\nschema = 4\nflour = "much"\n'
    found = RECIPE.read({"title": "bread", "schema": 4, "flour": "much"}, text, HERE)
    assert (found.version, found.raw["flour"], found.migrated) == (4, "much", False)
    assert RECIPE.refusal(3, HERE) is None
    assert str(RECIPE.refusal(found.version, HERE, text)) == (
        "recipe.toml:3: is a recipe of schema 4, and this judge-tui knows schema 3: "
        "nobody bakes it until judge-tui is updated."
    )


def test_the_line_is_that_of_the_file_and_not_of_a_table_in_it() -> None:
    text = '"schema" = 4\n[binding.forward]\nschema = 1\n'
    assert "recipe.toml:1:" in str(RECIPE.refusal(4, HERE, text))
    assert str(RECIPE.refusal(4, HERE, text.partition("\n")[2])).startswith("recipe.toml: ")


@pytest.mark.parametrize("stated", MALFORMED)
def test_a_version_that_is_none_is_one_sentence_with_file_and_line(tmp_path: Path, stated: str) -> None:
    path = tmp_path / "submission.toml"
    path.write_text(f'model = "Some One"\nschema = {stated}\n')
    with pytest.raises(WorkspaceError) as raised:
        read_meta(path)
    assert (raised.value.file, raised.value.line) == (str(path), 2)
    assert raised.value.message == "'schema' must be a whole number from 1 on: the version of the format."


def test_submissions_that_state_no_version_say_all_that_they_said() -> None:
    files = sorted(ROOT.glob("submissions/*/*/submission.toml"))
    assert files
    for path in files:
        assert "schema" not in path.read_text()
        assert read_meta(path).newer == ""
        assert read_meta(path).origin == "reconstruction"


NEWER = """\
schema = 2
model = "Some One"
origin = ["a", "list", "now"]

[binding.forward]
target = "code.py:wrong"
"""


def test_a_newer_submission_is_shown_by_the_keys_that_are_known_and_binds_nothing(submitted: Submit) -> None:
    meta = submitted({"code.py": RIGHT, "submission.toml": NEWER}).meta
    assert (meta.model, meta.origin, meta.binding) == ("Some One", "", {})
    assert (
        "submission.toml:1: is a submission.toml of schema 2, and this judge-tui knows schema 1" in meta.newer
    )


@pytest.mark.parametrize("text", [NEWER, 'schema = 2\nbinding = "none"\n'])
def test_no_check_goes_by_a_newer_submission_and_each_says_why(
    scale: Task, submitted: Submit, text: str
) -> None:
    submission = submitted({"code.py": RIGHT, "submission.toml": text})
    outcomes = judge(scale, submission, seed=1)
    assert outcomes
    assert {str(outcome.verdict) for outcome in outcomes.values()} == {"skip"}
    assert {outcome.summary for outcome in outcomes.values()} == {submission.meta.newer.rstrip(".")}


def test_an_overlay_of_a_newer_schema_is_gone_by_as_little(
    scale: Task, submitted: Submit, tmp_path: Path
) -> None:
    own = submitted({"code.py": RIGHT, "submission.toml": 'model = "Some One"\n'})
    overlay = tmp_path / "over" / own.model / own.task
    overlay.mkdir(parents=True)
    (overlay / "submission.toml").write_text(NEWER)
    over = Submission.at(own.path, model=own.model, task=own.task, bindings=tmp_path / "over")
    assert str(overlay) in over.meta.newer
    assert {str(outcome.verdict) for outcome in judge(scale, over, seed=1).values()} == {"skip"}


def test_one_that_states_the_present_version_is_judged(scale: Task, submitted: Submit) -> None:
    outcomes = judge(scale, submitted({"code.py": RIGHT, "submission.toml": "schema = 1\n"}), seed=1)
    assert "pass" in {str(outcome.verdict) for outcome in outcomes.values()}


def test_a_version_that_is_none_fails_no_check(scale: Task, submitted: Submit) -> None:
    outcomes = judge(scale, submitted({"code.py": RIGHT, "submission.toml": "schema = 0\n"}), seed=1)
    verdicts = {str(outcome.verdict) for outcome in outcomes.values()}
    assert "unbound" in verdicts
    assert not verdicts & {"fail", "error"}
