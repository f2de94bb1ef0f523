"""Summaries: what judges wrote comes out cell by cell, and nothing is invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from judge_tui.judging.blind import BlindMark
from judge_tui.judging.card import Scorecard
from judge_tui.judging.matchup import Criterion, Matchup, Matchups, save_matchups
from judge_tui.judging.note import new_note
from judge_tui.judging.scoreboard import build_board
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.gathered import gathered
from judge_tui.judging.summaries.head_to_head import head_to_head
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import Bars, Code, Criteria, Heading, Notes, Prose, Report, Table
from judge_tui.judging.summaries.two_way import two_way
from judge_tui.judging.workspace import Workspace
from judge_tui.reports.rendering import html, markdown

ROOT = Path(__file__).parents[2]


def _tables(report: Report) -> list[Table]:
    return [part for part in report.parts if isinstance(part, Table)]


def _texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_the_published_dimension_tables_come_out() -> None:
    report = head_to_head(
        gathered(Workspace.find(explicit=ROOT), ["glm5", "qwen36"], ["kv", "backwards", "fuse"])
    )
    by_task = {}
    for before, part in zip(report.parts, report.parts[1:], strict=False):
        if isinstance(before, Heading) and before.level == 2 and isinstance(part, Table):
            by_task[before.anchor] = _texts(part)
    assert ["Depth of Analysis", "82", "96"] in by_task["kv"]
    assert ["Points", "82", "94"] in by_task["kv"]
    assert ["Points", "82", "93"] in by_task["backwards"]
    assert ["Points", "80", "78"] in by_task["fuse"]
    assert [row[1] for row in by_task["ranking"]] == ["Qwen3-6", "GLM-5"]
    assert [row[-2] for row in by_task["ranking"]] == ["88", "81"]
    told = [row[1:3] for row in by_task["winners"] if row[2]]
    assert told == [["Qwen3-6", "+12"], ["Qwen3-6", "+11"], ["GLM-5", "+2"]]


def test_documents_that_disagree_are_both_told() -> None:
    report = head_to_head(gathered(Workspace.find(explicit=ROOT), ["glm5", "qwen36"], ["fuse"]))
    winners = next(part for part in _tables(report) if "Winner" in part.head)
    assert [(row[1].text, row[1].strong) for row in winners.rows] == [("GLM-5", True), ("split", False)]
    assert len({row[-1].text for row in winners.rows}) == 2


def test_words_on_other_files_say_so() -> None:
    report = two_way(gathered(Workspace.find(explicit=ROOT), ["glm5", "qwen36"], ["kv"]))
    assert any(isinstance(part, Prose) and "reconstructions" in part.text for part in report.parts)


def _card(workspace: Workspace, model: str, score: int, judge: str = "anna", **more: Any) -> Scorecard:
    blank, stamp = workspace.scorecard("kv", model, judge)
    card = blank.with_score("correctness", score).judged_under(
        workspace.rubric("kv"), workspace.submission(model, "kv").digest
    )
    card = replace(
        card,
        blind=more.get("blind"),
        overall=more.get("overall"),
        overall_reason=more.get("overall_reason", ""),
    )
    for note in more.get("notes", ()):
        card = card.with_note(note)
    save_scorecard(workspace.scorecard_path("kv", model, judge), card, stamp)
    return card


def test_scores_compare_where_nobody_wrote_criteria(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70)
    _card(workspace, "qwen36", 85)
    report = two_way(gathered(workspace, ["glm5", "qwen36"], ["kv"]))
    (made,) = [part for part in report.parts if isinstance(part, Criteria)]
    assert [(line.cells, line.edge, line.basis) for line in made.lines] == [
        (("70", "85"), "qwen36", "scores")
    ]
    assert made.judge == ""


def test_what_the_scores_come_to_stands_below_a_comparison_by_them(workspace: Workspace) -> None:
    for model, score in (("glm5", 70), ("qwen36", 92)):
        _card(workspace, model, score, overall=score)
        card, stamp = workspace.scorecard("kv", model, "anna")
        path = workspace.scorecard_path("kv", model, "anna")
        save_scorecard(path, card.with_score("code_quality", score), stamp)
    report = two_way(gathered(workspace, ["glm5", "qwen36"], ["kv"]))
    assert _texts(_tables(report)[1]) == [["Points", "70", "92"], ["Grade", "B", "A"]]
    (plot,) = [part for part in report.parts if isinstance(part, Bars)]
    assert plot.names == ("glm5", "qwen36")
    assert "<svg" in html(report)


def test_who_was_not_scored_is_neither_ahead_nor_behind(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70)
    report = two_way(gathered(workspace, ["glm5", "qwen36"], ["kv"]))
    assert not [part for part in report.parts if isinstance(part, Criteria | Table)]
    assert isinstance(report.parts[-1], Prose)


def test_a_judges_word_stands_before_that_of_the_scores(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70)
    _card(workspace, "qwen36", 85)
    criteria = (Criterion("Tests", {"glm5": "eight", "qwen36": "none"}, "glm5"),)
    word = Matchup(("glm5", "qwen36"), "glm5", 3, "It has tests.", criteria)
    save_matchups(workspace.matchups_path("kv", "anna"), Matchups("kv", "anna", (word,)), None)
    report = two_way(gathered(workspace, ["qwen36", "glm5"], ["kv"]))
    (made,) = [part for part in report.parts if isinstance(part, Criteria)]
    assert (made.judge, made.winner, made.margin, made.differentiator) == ("anna", "glm5", 3, "It has tests.")
    assert made.lines[0].cells == ("none", "eight")
    (tally,) = _tables(report)
    assert _texts(tally)[0][1:] == ["0", "1", "0", "glm5 +3", "It has tests."]


def _changed(workspace: Workspace, model: str) -> None:
    (workspace.submissions / model / "kv" / "kv_cache.py").write_text("pass\n")


def test_scores_of_files_that_changed_since_are_marked_in_every_document(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70, overall=70)
    _card(workspace, "qwen36", 85, overall=85)
    before = gathered(workspace, ["glm5", "qwen36"], ["kv"])
    for shape in (two_way, head_to_head):
        assert "†" not in markdown(shape(before))
        assert "†" not in html(shape(before))
    _changed(workspace, "glm5")
    after = gathered(workspace, ["glm5", "qwen36"], ["kv"])
    text = markdown(two_way(after))
    assert "† The files have changed since they were scored or compared." in text
    assert "| Correctness | 70 † | 85 |" in text
    text, page = markdown(head_to_head(after)), html(head_to_head(after))
    assert "| Dimension | glm5 † | qwen36 |" in text
    assert [row[1:3] for row in _texts(_tables(head_to_head(after))[0])] == [
        ["qwen36", "85 B"], ["glm5", "70 B †"],
    ]  # fmt: skip
    assert page.count("†") >= 3
    assert "† The files have changed since they were scored or compared." in page


def test_a_winner_that_was_decided_on_other_files_is_marked(workspace: Workspace) -> None:
    digests = {model: workspace.submission(model, "kv").digest for model in ("glm5", "qwen36")}
    criteria = (Criterion("Tests", {"glm5": "eight", "qwen36": "none"}, "glm5"),)
    word = Matchup(("glm5", "qwen36"), "glm5", 3, "It has tests.", criteria, submissions=digests)
    save_matchups(workspace.matchups_path("kv", "anna"), Matchups("kv", "anna", (word,)), None)
    assert "†" not in markdown(two_way(gathered(workspace, ["glm5", "qwen36"], ["kv"])))
    _changed(workspace, "qwen36")
    found = gathered(workspace, ["glm5", "qwen36"], ["kv"])
    assert "| **glm5 +3 †** |" in markdown(two_way(found))
    assert "**Winner: glm5** by 3 †" in markdown(two_way(found))
    assert "| **glm5 †** | +3 |" in markdown(head_to_head(found))
    assert "<strong>Winner: glm5</strong> by 3 †" in html(head_to_head(found))


def test_notes_lead_to_their_lines_and_lost_ones_to_none(workspace: Workspace) -> None:
    there = new_note(
        "bug",
        "No cache.",
        severity="critical",
        file="kv_cache.py",
        lines=(2, 3),
        source="# glm5\nclass Cache:\n    pass\n",
    )
    gone = new_note(
        "weakness", "Slow.", file="kv_cache.py", lines=(2, 2), source="x = 1\nfor i in range(n):\n"
    )
    _card(workspace, "glm5", 70, notes=(there, gone))
    report = head_to_head(gathered(workspace, ["glm5"], ["kv"]))
    notes = {part.kind: part.bullets for part in report.parts if isinstance(part, Notes)}
    (code,) = [part for part in report.parts if isinstance(part, Code)]
    assert notes["bug"][0].anchor == code.anchor
    assert (code.first, code.lines, code.marked) == (
        1,
        ("# glm5", "class Cache:", "    pass"),
        frozenset({2, 3}),
    )
    assert notes["weakness"][0].anchor == ""
    assert "no longer there" in notes["weakness"][0].where


def test_what_was_written_of_a_dimension_stands_in_every_document(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70)
    _card(workspace, "qwen36", 85)
    path = workspace.scorecard_path("kv", "glm5", "anna")
    card, stamp = workspace.scorecard("kv", "glm5", "anna")
    save_scorecard(path, card.with_comment("correctness", "Off | by\none <b>."), stamp)
    for shape in ("two-way", "head-to-head", "round"):
        report = report_of(workspace, Asked(shape, ("glm5", "qwen36"), ("kv",)))
        assert "| Correctness | 70 | Off \\| by one &lt;b&gt;. |" in markdown(report)
        assert 'id="said-kv-glm5-correctness"' in html(report)
        assert "said-kv-qwen36" not in html(report)
    table = next(part for part in _tables(report) if part.head[0] == "Dimension")
    assert [cell.anchor for cell in table.rows[0][1:]] == ["said-kv-glm5-correctness", "kv-qwen36"]


def test_why_points_are_not_the_mean_is_told_where_they_lead(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70, overall=75, overall_reason="It taught me something.")
    _card(workspace, "qwen36", 85, overall=85)
    report = head_to_head(gathered(workspace, ["glm5", "qwen36"], ["kv"]))
    points = next(row for part in _tables(report) for row in part.rows if row[0].text == "Points")
    assert [cell.anchor for cell in points[1:]] == ["said-kv-glm5-the-total", "kv-qwen36"]
    assert "| Points, the judge's own | 75 | It taught me something. |" in markdown(report)
    assert html(report).count('id="said-kv-glm5-the-total"') == 1


def test_names_in_other_letters_have_anchors_of_their_own() -> None:
    assert anchor_of("kv", "glm5.1", "a_b.py") == "kv-glm5.1-a_b.py"
    assert len({anchor_of("kv", name) for name in ("模型", "模型二", "", "é", "e", "e.1", "e-1")}) == 7


def test_a_judge_is_named_where_there_are_several(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70, notes=(new_note("strength", "Short."),))
    _card(workspace, "glm5", 80, judge="ben", notes=(new_note("strength", "Clear."),))
    report = head_to_head(gathered(workspace, ["glm5"], ["kv"]))
    (notes,) = [part for part in report.parts if isinstance(part, Notes)]
    assert [(bullet.text, bullet.judge) for bullet in notes.bullets] == [
        ("Short.", "anna"),
        ("Clear.", "ben"),
    ]
    assert report.judges == ("anna", "ben")
    one = head_to_head(gathered(workspace, ["glm5"], ["kv"], ["ben"]))
    assert one.judges == ("ben",)


def test_a_malformed_card_costs_its_own_part_and_is_told(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70)
    _card(workspace, "qwen36", 85)
    workspace.scorecard_path("kv", "qwen36", "anna").write_text('schema = 1\ntask = "kv\n')
    report = head_to_head(gathered(workspace, [], ["kv"]))
    assert list(report.models) == ["glm5"]
    (fault,) = report.faults
    assert "anna.toml:2" in fault


def test_what_is_judged_blind_stays_out_until_the_names_are_revealed(workspace: Workspace) -> None:
    card = _card(workspace, "glm5", 70)
    _card(workspace, "qwen36", 85)
    word = Matchup(("glm5", "qwen36"), "glm5")
    save_matchups(workspace.matchups_path("kv", "anna"), Matchups("kv", "anna", (word,)), None)
    _, stamp = workspace.scorecard("kv", "glm5", "anna")
    sealed = replace(card, blind=BlindMark(began="2026-03-01"))
    save_scorecard(workspace.scorecard_path("kv", "glm5", "anna"), sealed, stamp)
    assert sealed.sealed
    found = gathered(workspace, ["glm5", "qwen36"], ["kv"])
    assert list(found.tasks["kv"].judged) == ["qwen36"]
    assert found.tasks["kv"].matchups == ()


def test_the_letters_of_a_blind_draw_are_told_once_the_names_are_known(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70, blind=BlindMark(began="2026-03-01", revealed="2026-03-02", side="B"))
    _card(workspace, "qwen36", 85, blind=BlindMark(began="2026-03-01", revealed="2026-03-02", side="A"))
    _card(workspace, "qwen36", 80, judge="bob")
    remarks = [*gathered(workspace, ["glm5", "qwen36"], ["kv"]).remarks]
    titles = [workspace.model_title(model) for model in ("qwen36", "glm5")]
    told = f"A {titles[0]}, B {titles[1]} on kv (anna)."
    assert [each for each in remarks if "blind" in each and each.endswith(told)]
    assert not [each for each in gathered(workspace, ["qwen36"], ["kv"], ["bob"]).remarks if "blind" in each]


def test_who_was_compared_and_never_scored_is_in_every_document(workspace: Workspace) -> None:
    word = Matchup(("glm5", "qwen36"), "glm5", None, "It has tests.")
    save_matchups(workspace.matchups_path("kv", "anna"), Matchups("kv", "anna", (word,)), None)
    found = gathered(workspace, [], ["kv"])
    assert list(found.models) == ["glm5", "qwen36"]
    (winners,) = [table for table in _tables(head_to_head(found)) if "Winner" in table.head]
    assert [row[1] for row in _texts(winners)] == ["glm5"]


def test_why_there_are_no_points_is_told(workspace: Workspace) -> None:
    several = len(workspace.rubric("kv").dimensions)
    _card(workspace, "glm5", 70)
    _card(workspace, "qwen36", 85, overall=85)
    (said,) = gathered(workspace, ["glm5", "qwen36"], ["kv"]).remarks
    assert said == f"No points yet, since dimensions are not scored: glm5 on kv (anna: 1 of {several})."


def test_the_letter_of_several_judges_is_that_of_the_board(workspace: Workspace) -> None:
    _card(workspace, "glm5", 70, overall=89)
    _card(workspace, "glm5", 70, judge="bob", overall=92)
    of = gathered(workspace, ["glm5"], ["kv"]).tasks["kv"].judged["glm5"]
    assert of.points == 90.5
    cell = build_board(workspace, tasks=["kv"]).rows[0].cells["kv"]
    assert (of.letters,) == cell.letters == (workspace.rubric("kv").letter(90.5),)
