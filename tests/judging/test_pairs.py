from __future__ import annotations

from msgspec.structs import replace

from judge_tui.judging.matchup import Matchup
from judge_tui.judging.pairs import REASONS, Pair, partner, queue
from judge_tui.judging.standing import Standing

UNSCORED, STALE, OLD, MATCHUP = REASONS


def cell(model: str, points: int | None = None, *, task: str = "kv", **more: object) -> Standing:
    settings = {"files": 1, "judged": points is not None} | more
    return Standing(model, task, points=points, **settings)  # type: ignore[arg-type]


def test_each_unscored_submission_is_met_once_and_the_odd_one_beside_a_known_one() -> None:
    cells = [cell("a"), cell("b"), cell("c"), cell("d", 80)]
    assert queue(cells, {}) == (Pair("kv", ("a", "b"), UNSCORED), Pair("kv", ("c", "d"), UNSCORED))


def test_what_was_begun_is_ended_first() -> None:
    cells = [cell("a"), cell("b"), cell("c", scored=2), cell("d", notes=1)]
    assert [pair.models for pair in queue(cells, {})] == [("c", "d"), ("a", "b")]


def test_a_pair_says_which_of_it_is_due_and_whether_that_was_begun() -> None:
    cells = [cell("a", 80), cell("b", scored=2), cell("c", notes=1), cell("d")]
    assert [(p.models, p.due, p.begun) for p in queue(cells, {})] == [
        (("b", "c"), ("b", "c"), True),
        (("a", "d"), ("d",), False),
    ]
    cells = [cell(m, task=task) for task, models in (("fuse", "abc"), ("kv", "ab")) for m in models]
    assert [p.due for p in queue(cells, {})] == [("a", "b"), ("a", "c"), ("a", "b")]
    [stale, *_] = queue([cell("a", 80), cell("b", 70, stale=True)], {})
    assert (stale.reason, stale.due, stale.begun) == (STALE, ("b",), False)


def test_unscored_goes_before_stale_and_stale_before_what_has_no_matchup() -> None:
    cells = [
        *(cell(m, p, task="beam") for m, p in (("a", 90), ("b", 80))),
        *(cell(m, p, task="fuse", stale=True) for m, p in (("a", 90), ("b", 80))),
        *(cell(m, task="kv") for m in "ab"),
    ]
    got = queue(cells, {"beam": [], "fuse": [], "kv": []})
    assert [(pair.task, pair.reason) for pair in got] == [
        ("kv", UNSCORED),
        ("fuse", STALE),
        ("beam", MATCHUP),
    ]


def test_matchups_are_asked_for_between_neighbours_first_and_a_three_way_one_covers_its_pairs() -> None:
    cells = [cell("a", 90), cell("b", 60), cell("c", 80), cell("d", 70)]
    got = queue(cells, {"kv": [Matchup(tuple("acd"), "a")]})
    assert [pair.models for pair in got] == [("b", "d"), ("b", "c"), ("a", "b")]
    assert queue(cells, {}) == ()


def test_a_matchup_decided_on_other_files_is_due_again_for_all_that_it_compared() -> None:
    cells = [cell(m, p, digest=f"sha256:{m}") for m, p in (("a", 90), ("b", 60), ("c", 80))]
    seen = {m: f"sha256:{m}" for m in "abc"}
    fresh = Matchup(("c", "a", "b"), "a", submissions=seen)
    assert queue(cells, {"kv": [fresh]}) == ()
    old = replace(fresh, submissions=seen | {"b": "sha256:before"})
    assert queue(cells, {"kv": [old]}) == (Pair("kv", ("a", "b", "c"), OLD),)
    # one of before digests were kept, and one of published scores, say nothing of the files
    assert queue(cells, {"kv": [replace(fresh, submissions={})]}) == ()
    # the scores come first
    assert [p.reason for p in queue([*cells[:2], replace(cells[2], stale=True)], {"kv": [old]})] == [STALE]


def test_what_cannot_be_compared_is_not_queued() -> None:
    alone = [cell("a", task="solo")]
    gone = [cell("a", files=0), cell("b")]
    broken = [cell("a", task="fuse", fault="is broken."), cell("b", task="fuse")]
    assert queue([*alone, *gone, *broken], {}) == ()


def test_the_queue_of_a_large_task_is_cut() -> None:
    cells = [cell(f"m{n:03}", n % 100) for n in range(300)]
    assert len(queue(cells, {"kv": []})) == 50


def test_the_partner_is_that_of_the_queue_and_else_the_next_row() -> None:
    pairs = (Pair("fuse", ("a", "b"), UNSCORED), Pair("kv", ("a", "c"), STALE))
    assert partner("a", "kv", pairs, "abcd") == "c"
    assert partner("b", "kv", pairs, "abcd") == "c"
    assert partner("d", "kv", (), "abcd") == "c"
    assert partner("a", "kv", (), "a") is None
