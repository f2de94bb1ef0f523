from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.matchup import (
    TIE,
    Criterion,
    Matchup,
    Matchups,
    load_matchups,
    parse_matchups,
    read_matchups,
    render_matchups,
    save_matchup,
    save_matchups,
    stamp_of,
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
    st.sampled_from(["", "check:size"]),
)
MATCHUPS = st.builds(
    Matchup,
    st.just(MODELS),
    st.none() | st.sampled_from([*MODELS, TIE, "split"]),
    st.none() | st.integers(0, 100),
    st.text(max_size=20),
    st.lists(CRITERIA, max_size=3).map(tuple),
    st.text(max_size=8),
    st.just({}),
    st.sampled_from([(), ("check:size", "dimension:tests")]),
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


HEAD = Matchups("kv", "anna")
A_B, A_C = Matchup(("a", "b"), "a", 3), Matchup(("a", "c"), "c")


def test_one_matchup_is_written_beside_the_others_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "matchups" / "anna.toml"
    stamp = save_matchup(path, A_B, HEAD, None)
    # another window has begun another matchup of the same file
    save_matchup(path, A_C, HEAD, None)
    path.write_text(path.read_text().replace('judge = "anna"', 'judge = "anna"\nround = 3'))
    changed = Matchup(("a", "b"), "b", 5)
    save_matchup(path, changed, HEAD, stamp)
    found = load_matchups(path)
    assert found.matchups == (changed, A_C)
    assert found.extra == {"round": 3}


def test_the_same_matchup_in_two_windows_is_a_conflict(tmp_path: Path) -> None:
    path = tmp_path / "anna.toml"
    stamp = save_matchup(path, A_B, HEAD, None)
    save_matchup(path, Matchup(("b", "a"), "b"), HEAD, stamp)
    with pytest.raises(Conflict):
        save_matchup(path, A_B, HEAD, stamp)
    assert load_matchups(path).matchups == (Matchup(("b", "a"), "b"),)


def test_a_blank_matchup_is_taken_out_and_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "anna.toml"
    assert save_matchup(path, Matchup(("a", "b")), HEAD, None) is None
    assert not path.exists()
    stamp = save_matchup(path, A_B, HEAD, None)
    assert save_matchup(path, Matchup(("a", "b")), HEAD, stamp) is None
    assert load_matchups(path).matchups == ()


def test_a_file_that_broke_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "anna.toml"
    stamp = save_matchup(path, A_B, HEAD, None)
    path.write_text("task = ")
    with pytest.raises(WorkspaceError) as caught:
        save_matchup(path, A_C, HEAD, stamp)
    assert caught.value.line == 1
    assert path.read_text() == "task = "


PUBLISHED = Matchup(("b", "a"), "b", key_differentiator="size", source="Round 2")


def test_a_matchup_is_found_in_any_order_and_a_published_one_is_not_ones_own() -> None:
    both = Matchups("kv", "anna", (PUBLISHED, A_B))
    assert both.between(("b", "a")) is A_B
    assert both.between(("a", "b"), "Round 2") is PUBLISHED
    assert both.published(("a", "b")) == (PUBLISHED,)
    assert Matchups("kv", "anna", (PUBLISHED,)).between(("a", "b")).blank
    assert HEAD.between(("a", "b")) == Matchup(("a", "b"))


def test_ones_own_word_never_takes_the_place_of_a_published_one() -> None:
    both = Matchups("kv", "anna", (PUBLISHED, A_B))
    assert both.with_matchup(Matchup(("a", "b"))).matchups == (PUBLISHED,)
    assert Matchups("kv", "anna", (PUBLISHED,)).with_matchup(A_B).matchups == (PUBLISHED, A_B)
    other = replace(PUBLISHED, winner="a")
    assert both.with_matchup(other).matchups == (other, A_B)


def test_what_is_saved_of_ones_own_leaves_what_was_published(tmp_path: Path) -> None:
    path = tmp_path / "anna.toml"
    save_matchup(path, PUBLISHED, HEAD, None)
    stamp = save_matchup(path, A_B, HEAD, None)
    assert load_matchups(path).matchups == (PUBLISHED, A_B)
    assert save_matchup(path, Matchup(("a", "b")), HEAD, stamp) is None
    assert load_matchups(path).matchups == (PUBLISHED,)


def test_the_stamp_is_that_of_one_matchup() -> None:
    both = Matchups("kv", "anna", (A_B, A_C))
    assert stamp_of(both, ("b", "a")) == stamp_of(Matchups("kv", "anna", (A_B,)), ("a", "b"))
    assert stamp_of(both, ("a", "c")) != stamp_of(both, ("a", "b"))
    assert stamp_of(both, ("b", "c")) is None


def test_no_file_is_no_matchups(tmp_path: Path) -> None:
    assert read_matchups(tmp_path / "anna.toml") is None


def test_missing_points_are_no_zeros_and_shared_leads_share_the_task() -> None:
    assert mean([80, None, 90]) == 85
    assert mean([None]) is None
    points = {"a": {"kv": 90, "fuse": 80, "solo": 9}, "b": {"kv": 80, "fuse": 80}, "c": {"kv": None}}
    assert wins(points) == {"a": 1.5, "b": 0.5, "c": 0}
    assert ranked({"z": None, "b": 80.0, "a": 80.0, "c": 90.0, "zero": 0.0}) == ("c", "a", "b", "zero", "z")
