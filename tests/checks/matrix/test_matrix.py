"""Whatever way a right cache is made, fed and told, it is bound and passes: a part in CI, pairs by hand."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.verdict import Verdict

from .written import RESPECTS, Ways, cells, impossible, source

#: What is judged of each: that it is bound, and that what is bound is right.
CHECKS = ("incremental_equals_full", "isolation")
#: One way of each respect that is not the usual one, and no two alike in most respects.
PART = (
    Ways(axes="BNHD", config="dataclass"),
    Ways(axes="BNE", feed="pair"),
    Ways(layer="index", place="start_pos"),
    Ways(axes="HND", sequence="added"),
    Ways(place="advance_by", scale="told"),
    Ways(feed="update", attention="function", room="reserve"),
)


def judged(ways: Ways, folder: Path) -> dict[str, str]:
    place = folder / "m" / "kv"
    place.mkdir(parents=True)
    (place / "kv_cache.py").write_text(source(ways))
    found = judge(load_task("kv"), Submission.at(place), seed=3, checks=CHECKS)
    return {name: outcome.summary for name, outcome in found.items() if outcome.verdict is not Verdict.PASS}


@pytest.mark.parametrize("ways", PART, ids=lambda ways: ways.name)
def test_a_part_of_the_matrix(ways: Ways, tmp_path: Path) -> None:
    assert impossible(ways) == ""
    assert judged(ways, tmp_path) == {}


@pytest.mark.campaign
@pytest.mark.parametrize("ways", list(cells()), ids=lambda ways: ways.name)
def test_every_two_respects_in_every_two_of_their_ways(ways: Ways, tmp_path: Path) -> None:
    assert judged(ways, tmp_path) == {}


def test_every_way_of_every_respect_is_in_some_cell() -> None:
    found = list(cells())
    assert len(found) > 200
    for field in fields(Ways):
        assert {getattr(ways, field.name) for ways in found} == set(RESPECTS[field.name])
