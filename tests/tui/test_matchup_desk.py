"""A matchup while it is decided: lines, undo, saving, two windows, files that are off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.matchup import (
    TIE,
    Criterion,
    Matchup,
    Matchups,
    load_matchups,
    render_matchups,
    save_matchups,
)
from judge_tui.judging.proposals import Proposal
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk import rescue
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.desk.matchup_desk import KEY, MARGIN, WINNER, MatchupDesk

Opener = Callable[..., MatchupDesk]
SIZE = Criterion("Size", {"alpha": "10 lines", "beta": "99 lines"}, "alpha", basis="check:size")
SPEED = Criterion("Speed", {"alpha": "3 s", "beta": "1 s"}, "beta", note="less", basis="check:speed")
PROPOSAL = Proposal("beta", 7, "Correctness (90 against 83).", (SIZE, SPEED))


@pytest.fixture
def opened(workspace: Workspace) -> Iterator[Opener]:
    desks: list[MatchupDesk] = []

    def made(
        models: tuple[str, ...] = ("alpha", "beta"), reports: list[SaveReport] | None = None
    ) -> MatchupDesk:
        told = (lambda _: None) if reports is None else reports.append
        desks.append(MatchupDesk(workspace, "kv", models, "anna", told))
        desks[-1].proposal = PROPOSAL
        return desks[-1]

    yield made
    for desk in desks:
        desk.close()


def on_disk(workspace: Workspace) -> tuple[Matchup, ...]:
    return load_matchups(workspace.matchups_path("kv", "anna")).matchups


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
    assert again.undo() == "margin"
    assert (again.matchup.winner, again.matchup.margin) == ("alpha", None)
    assert again.undo() == "winner"
    assert again.matchup.blank
    again.flush()
    assert on_disk(workspace) == ()
    assert [again.redo(), again.redo()] == ["winner", "margin"]
    assert (again.matchup.winner, again.matchup.margin) == ("alpha", 12)


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


def test_three_submissions_have_a_matchup_of_their_own(opened: Opener, workspace: Workspace) -> None:
    two = opened()
    two.edge(WINNER, "alpha")
    three = opened(("gamma", "beta", "alpha"))
    three.edge(WINNER, "gamma")
    two.digit("5")
    two.flush()
    three.flush()
    assert not two.unsaved
    assert [(m.models, m.winner) for m in on_disk(workspace)] == [
        (("alpha", "beta"), "alpha"),
        (("alpha", "beta", "gamma"), "gamma"),
    ]


def test_what_others_have_written_into_the_file_is_kept(opened: Opener, workspace: Workspace) -> None:
    path = workspace.matchups_path("kv", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(
        'task = "kv"\njudge = "anna"\nround = 3\n[[matchups]]\nmodels = ["beta", "alpha"]\nwinner = "split"\n'
        'mood = "torn"\n[[matchups]]\nmodels = ["x", "y"]\nwinner = "x"\n'
    )
    desk = opened()
    assert desk.matchup.winner == "split"
    desk.write_key("Tests.")
    desk.flush()
    whole = load_matchups(path)
    assert whole.extra == {"round": 3}
    assert whole.matchups[0].extra == {"mood": "torn"}
    assert (whole.matchups[0].winner, whole.matchups[0].models) == ("split", ("beta", "alpha"))
    assert whole.matchups[1] == Matchup(("x", "y"), "x")


@pytest.mark.parametrize("mine", [True, False])
def test_two_windows_are_noticed_and_neither_loses_anything(
    opened: Opener, workspace: Workspace, mine: bool
) -> None:
    reports: list[SaveReport] = []
    desk = opened(reports=reports)
    desk.edge(WINNER, "alpha")
    desk.flush()
    save = Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta", 4),))
    path = workspace.matchups_path("kv", "anna")
    path.unlink()
    save_matchups(path, save, None)
    desk.write_key("Tests.")
    desk.flush()
    assert reports[-1].state == "conflict"
    assert desk.unsaved
    assert not desk.lost
    assert on_disk(workspace) == save.matchups
    desk.settle(mine=mine)
    desk.flush()
    assert not desk.unsaved
    [got] = on_disk(workspace)
    assert (got.winner, got.key_differentiator) == (("alpha", "Tests.") if mine else ("beta", ""))
    desk.undo()
    assert desk.matchup.winner == ("beta" if mine else "alpha")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("task = ", "anna.toml:1"),
        ('task = "kv"\njudge = "anna"\n[[matchups]]\nmodels = ["a"]', "two or more"),
        ('task = "fuse"\njudge = "anna"', "its place says 'kv'"),
    ],
)
def test_a_file_that_is_off_is_one_sentence_and_stays_as_it_is(
    opened: Opener, workspace: Workspace, text: str, words: str
) -> None:
    path = workspace.matchups_path("kv", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(WorkspaceError) as caught:
        opened()
    assert words in str(caught.value)
    assert path.read_text() == text


def test_a_file_that_breaks_meanwhile_is_not_written_over(opened: Opener, workspace: Workspace) -> None:
    reports: list[SaveReport] = []
    desk = opened(reports=reports)
    desk.edge(WINNER, "alpha")
    desk.flush()
    path = workspace.matchups_path("kv", "anna")
    path.write_text("by hand =")
    desk.write_key("Tests.")
    desk.flush()
    assert reports[-1].state == "failed"
    assert "anna.toml:1" in reports[-1].message
    assert path.read_text() == "by hand ="
    path.unlink()


def test_what_a_disk_did_not_take_is_brought_back_by_the_next_start(
    opened: Opener, workspace: Workspace
) -> None:
    desk = opened()
    (workspace.root / "scores" / "kv").write_text("in the way")
    desk.write_key("half a thou")
    desk.close()
    assert desk.unsaved
    assert not desk.lost
    (workspace.root / "scores" / "kv").unlink()
    again = opened()
    again.flush()
    assert again.matchup.key_differentiator == "half a thou"
    assert on_disk(workspace)[0].key_differentiator == "half a thou"


@pytest.mark.parametrize("mine", [True, False])
def test_work_of_an_earlier_run_is_not_written_over_a_newer_matchup(
    opened: Opener, workspace: Workspace, mine: bool
) -> None:
    first, second = opened(), opened()
    first.edge(WINNER, "alpha")
    first.flush()
    second.edge(WINNER, "beta")
    second.close()
    first.write_key("Tests.")
    first.close()
    reports: list[SaveReport] = []
    third = opened(reports=reports)
    third.flush()
    assert third.restored
    assert third.behind
    assert [report.state for report in reports] == ["conflict"]
    assert [(one.winner, one.key_differentiator) for one in on_disk(workspace)] == [("alpha", "Tests.")]
    third.settle(mine=mine)
    third.close()
    assert on_disk(workspace)[0].winner == ("beta" if mine else "alpha")
    fourth = opened()
    assert not fourth.restored
    fourth.undo()
    assert fourth.matchup.winner == ("alpha" if mine else "beta")


def test_a_journal_that_is_spoilt_costs_the_history_only(
    opened: Opener, workspace: Workspace, tmp_path: Path
) -> None:
    desk = opened()
    desk.edge(WINNER, "alpha")
    desk.close()
    for journal in (tmp_path / "state").rglob("*.jsonl"):
        journal.write_bytes(b"\xff rubbish")
    again = opened()
    assert again.matchup.winner == "alpha"
    assert again.undo() is None


def test_matchups_whose_names_hold_a_plus_share_neither_kept_work_nor_history(
    opened: Opener, workspace: Workspace
) -> None:
    three, two = ("a", "b", "c"), ("a+b", "c")
    desk = opened(three)
    (workspace.root / "scores" / "kv").write_text("in the way")
    desk.write_key("of all three")
    desk.close()
    (workspace.root / "scores" / "kv").unlink()
    other = opened(two)
    assert (other.restored, other.matchup, other.undo()) == (False, Matchup(two), None)
    other.edge(WINNER, "c")
    other.close()
    again = opened(three)
    assert again.restored
    assert again.matchup.key_differentiator == "of all three"
    assert opened(two).undo() == "winner"


def test_what_was_kept_of_another_matchup_under_the_same_name_is_not_taken_for_a_blank_one(
    opened: Opener,
) -> None:
    desk = opened(("a", "b", "c"))
    desk.edge(WINNER, "a")
    desk.close()
    key = desk.path / "a+b+c"
    of_another = Matchups("kv", "anna", (Matchup(("a+b", "c"), "c"),))
    kept = rescue.place(key, "unsaved", ".toml")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(render_matchups(of_another))
    again = opened(("a", "b", "c"))
    assert (again.restored, again.matchup.winner) == (False, "a")
    assert [place.read_text() for place in again.damaged] == [render_matchups(of_another)]
