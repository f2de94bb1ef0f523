from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.matchup import (
    TIE,
    Criterion,
    Matchup,
    Matchups,
    load_matchups,
    parse_matchups,
    render_matchups,
    save_matchups,
)
from judge_tui.judging.ranking import mean, ranked, wins
from judge_tui.judging.scorecard import Conflict

HERE = Path("m.toml")
MODELS = ("glm5", "minimax-m2.7")
CRITERIA = st.builds(
    Criterion,
    st.text(max_size=12),
    st.dictionaries(st.sampled_from(MODELS), st.text(max_size=12), max_size=2),
    st.none() | st.sampled_from([*MODELS, TIE]),
    st.dictionaries(st.just("why"), st.text(max_size=8), max_size=1),
    st.text(max_size=8),
)
MATCHUPS = st.builds(
    Matchup,
    st.just(MODELS),
    st.none() | st.sampled_from([*MODELS, TIE, "split"]),
    st.none() | st.integers(0, 100),
    st.text(max_size=20),
    st.lists(CRITERIA, max_size=3).map(tuple),
    st.text(max_size=8),
)


@given(st.lists(MATCHUPS, max_size=3).map(tuple))
def test_matchups_read_back_as_they_were_written(matchups: tuple[Matchup, ...]) -> None:
    written = Matchups("kv", "anna", matchups)
    assert parse_matchups(render_matchups(written).encode(), HERE) == written


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('models = ["a"]', 4, "two or more"),
        ('models = ["a", "a"]', 4, "two or more"),
        ('models = ["a", "b"]\n[[matchups.criteria]]\nname = "n"\nedge = "c"', 7, "'edge' must be"),
        (
            'models = ["a", "b"]\n[[matchups.criteria]]\nname = "n"\ncells = { a = 5 }',
            7,
            "'a' must be a text",
        ),
        ('models = ["a", "b"]\n[[matchups.criteria]]\nname = "n"\nnote = 2', 7, "'note' must be a text"),
    ],
)
def test_a_malformed_matchup_is_one_error_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        parse_matchups(f'task = "kv"\njudge = "j"\n[[matchups]]\n{text}\n'.encode(), HERE)
    assert words in caught.value.message
    assert caught.value.line == line


def test_edges_are_counted_with_ties_apart() -> None:
    criteria = tuple(Criterion(str(n), edge=edge) for n, edge in enumerate(["glm5", "glm5", TIE, None]))
    assert Matchup(MODELS, criteria=criteria).edges() == {"glm5": 2, "minimax-m2.7": 0, TIE: 1}


def test_matchups_are_saved_like_scorecards(tmp_path: Path) -> None:
    path = tmp_path / "matchups" / "anna.toml"
    written = Matchups("kv", "anna", (Matchup(MODELS, "glm5"),))
    save_matchups(path, written, None)
    assert load_matchups(path) == written
    with pytest.raises(Conflict):
        save_matchups(path, written, None)


def test_missing_points_are_no_zeros_and_shared_leads_share_the_task() -> None:
    assert mean([80, None, 90]) == 85
    assert mean([None]) is None
    points = {"a": {"kv": 90, "fuse": 80, "solo": 9}, "b": {"kv": 80, "fuse": 80}, "c": {"kv": None}}
    assert wins(points) == {"a": 1.5, "b": 0.5, "c": 0}
    assert ranked({"z": None, "b": 80.0, "a": 80.0, "c": 90.0, "zero": 0.0}) == ("c", "a", "b", "zero", "z")
