"""A matchup while it is decided: its lines, what is proposed, undo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judge_tui.judging.matchup import TIE, Criterion
from judge_tui.judging.proposals import Proposal
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.matchup_desk import KEY, MARGIN, WINNER, MatchupDesk

from .matchup_desks import PROPOSAL, SPEED, Opener, desks, on_disk


@pytest.fixture
def opened(workspace: Workspace) -> Iterator[Opener]:
    with desks(workspace) as open_desk:
        yield open_desk


def test_nothing_is_written_until_something_is_decided(opened: Opener, workspace: Workspace) -> None:
    desk = opened()
    assert desk.lines() == [WINNER, MARGIN, KEY, ("proposal", "check:size"), ("proposal", "check:speed")]
    desk.flush()
    assert not workspace.matchups_path("kv", "anna").exists()


def test_a_winner_is_decided_on_the_files_of_that_day(workspace: Workspace) -> None:
    now = {"alpha": "sha256:1", "beta": "sha256:2"}
    desk = MatchupDesk(workspace, "kv", ("alpha", "beta"), "anna", digests=lambda: now)
    try:
        desk.write_key("half a word")
        assert not desk.stale
        desk.edge(WINNER, "alpha")
        assert not desk.stale
        now["beta"] = "sha256:3"
        assert desk.stale
        desk.write_key("another word does not decide again")
        assert desk.stale
        desk.edge(WINNER, "alpha")
        assert not desk.stale
        assert desk.undo() == "winner"
        assert desk.stale
        desk.redo()
        desk.flush()
        [got] = on_disk(workspace)
        assert got.submissions == now
        desk.remove(WINNER)
        desk.write_key("")
        desk.flush()
        assert on_disk(workspace) == ()
    finally:
        desk.close()


def test_a_matchup_of_before_files_were_recorded_is_not_stale_and_stays_as_it_is(
    workspace: Workspace,
) -> None:
    path = workspace.matchups_path("kv", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(
        'schema = 1\ntask = "kv"\njudge = "anna"\n\n[[matchups]]\n'
        'models = ["alpha", "beta"]\nwinner = "alpha"\nodd = "kept"\n'
    )
    desk = MatchupDesk(workspace, "kv", ("alpha", "beta"), "anna", digests=lambda: {"alpha": "sha256:1"})
    try:
        assert not desk.stale
        desk.write_key("why")
        desk.flush()
        assert "submissions" not in path.read_text()
        assert 'odd = "kept"' in path.read_text()
    finally:
        desk.close()


def test_nothing_is_proposed_of_the_margin_of_one_whom_the_scores_do_not_see_ahead(opened: Opener) -> None:
    desk = opened()
    assert (desk.proposed_margin, desk.proposed_key) == (7, PROPOSAL.key_differentiator)
    desk.edge(WINNER, "alpha")
    assert (desk.proposed_margin, desk.proposed_key) == (None, "")
    assert not desk.accept(MARGIN)
    assert not desk.accept(KEY)
    desk.edge(WINNER, "beta")
    assert desk.accept(MARGIN)


def test_what_is_proposed_is_accepted_line_by_line(opened: Opener, workspace: Workspace) -> None:
    desk = opened()
    assert desk.accept(WINNER)
    assert desk.accept(KEY)
    assert desk.accept(("proposal", "check:speed"))
    desk.flush()
    [got] = on_disk(workspace)
    assert (got.winner, got.margin, got.key_differentiator) == ("beta", 7, "Correctness (90 against 83).")
    assert got.criteria == (SPEED,)
    assert desk.lines()[3:] == [("criterion", 0), ("proposal", "check:size")]


def test_an_edge_of_ones_own_accepts_a_proposal_without_the_reason_that_was_for_another(
    opened: Opener,
) -> None:
    desk = opened()
    desk.edge(("proposal", "check:speed"), "alpha")
    [got] = desk.matchup.criteria
    assert (got.edge, got.note, got.cells) == ("alpha", "", SPEED.cells)
    desk.edge(("criterion", 0), TIE)
    assert desk.matchup.edges() == {"alpha": 0, "beta": 0, TIE: 1}


def test_what_was_turned_down_does_not_come_again_until_it_is_asked_for(opened: Opener) -> None:
    desk = opened()
    desk.remove(("proposal", "check:size"))
    desk.accept(("proposal", "check:speed"))
    desk.remove(("criterion", 0))
    desk.close()
    again = opened()
    assert again.lines() == [WINNER, MARGIN, KEY]
    assert again.reconsider() == 2
    assert len(again.open_proposals) == 2
    assert again.undo() == "reconsider what was declined"
    assert again.open_proposals == ()


def test_every_change_is_undone_and_redone_over_a_restart_too(opened: Opener, workspace: Workspace) -> None:
    desk = opened()
    desk.edge(WINNER, "alpha")
    desk.digit("1")
    desk.digit("2")
    desk.accept_all()
    desk.close()
    again = opened()
    assert again.undo() == "accept all proposals"
    assert again.undo() == "margin, 12 → –"
    assert (again.matchup.winner, again.matchup.margin) == ("alpha", None)
    assert again.undo() == "winner, alpha → –"
    assert again.matchup.blank
    again.flush()
    assert on_disk(workspace) == ()
    assert [again.redo(), again.redo()] == ["winner, – → alpha", "margin, – → 12"]
    assert (again.matchup.winner, again.matchup.margin) == ("alpha", 12)


def test_a_step_says_who_was_ahead_and_is(opened: Opener) -> None:
    desk = opened()
    desk.accept(("proposal", "check:speed"))
    desk.edge(("criterion", 0), "alpha")
    desk.edge(WINNER, "alpha")
    desk.edge(WINNER, "tie")
    desk.remove(WINNER)

    def who(edge: str | None) -> str:
        return {"alpha": "A", "beta": "B"}.get(edge or "", edge or "–")

    assert [desk.undo(who) for _ in range(5)] == [
        "no winner, – → tie",
        "winner, tie → A",
        "winner, A → –",
        "edge of Speed, A → B",
        "accept Speed",
    ]
    assert desk.redo(who) == "accept Speed"
    assert desk.redo(who) == "edge of Speed, B → A"


def test_another_winner_takes_the_margin_away_and_the_first_one_keeps_it(opened: Opener) -> None:
    desk = opened()
    desk.digit("9")
    desk.edge(WINNER, "alpha")
    assert desk.matchup.margin == 9
    desk.edge(WINNER, "beta")
    assert desk.matchup.margin is None


def test_half_typed_text_is_on_disk_and_is_one_step(opened: Opener, workspace: Workspace) -> None:
    desk = opened()
    for text in ("h", "half", "half a thou"):
        desk.write_key(text)
    line = desk.write(("new", 0), Criterion("T"))
    for name in ("Te", "Tests"):
        line = desk.write(line, Criterion(name))
    assert line == ("criterion", 0)
    desk.flush()
    [got] = on_disk(workspace)
    assert (got.key_differentiator, got.criteria) == ("half a thou", (Criterion("Tests"),))
    assert [desk.undo(), desk.undo()] == ["criterion Tests", "key differentiator"]
    assert desk.matchup.blank


def test_a_line_that_says_nothing_is_no_line(opened: Opener) -> None:
    desk = opened()
    line = desk.write(("new", 0), Criterion("x"))
    assert desk.write(line, Criterion("")) == ("new", 0)
    assert desk.matchup.criteria == ()


def test_lines_are_put_in_order(opened: Opener) -> None:
    desk = opened()
    desk.accept_all()
    assert desk.move(("criterion", 1), -1) == ("criterion", 0)
    assert [line.name for line in desk.matchup.criteria] == ["Speed", "Size"]
    assert desk.move(("criterion", 0), -1) == ("criterion", 0)


def test_figures_that_were_measured_anew_are_shown_and_taken_when_asked(opened: Opener) -> None:
    desk = opened()
    desk.accept(("proposal", "check:speed"))
    new = Criterion("Speed", {"alpha": "3 s", "beta": "2 s"}, "beta", basis="check:speed")
    desk.proposal = Proposal(None, None, "", (new,))
    assert desk.measured_anew(desk.matchup.criteria[0]) == new
    assert desk.accept(("criterion", 0))
    assert desk.matchup.criteria[0].cells["beta"] == "2 s"
    assert desk.matchup.criteria[0].note == "less"
    assert not desk.accept(("criterion", 0))
