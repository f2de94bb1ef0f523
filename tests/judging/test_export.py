from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.export import BEGIN, END, export_scoreboard, scoreboard_markdown
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import Scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace

MARKERS = (BEGIN.encode(), END.encode())


def put(
    workspace: Workspace, model: str, judge: str = "anna", here: bool = True, **scores: int | None
) -> None:
    """Save a card with these scores, its total under ``overall``."""
    card, stamp = workspace.scorecard("kv", model, judge)
    card = card.with_overall(scores.pop("overall", None))
    for dimension, score in scores.items():
        card = card.with_score(dimension, score)
    digest = workspace.submission(model, "kv").digest if here else None
    card = card.judged_under(workspace.rubric("kv"), digest)
    save_scorecard(workspace.scorecard_path("kv", model, judge), card, stamp)


def rows(text: str) -> list[list[str]]:
    """Cells of the first table, without its rule."""
    lines = text.strip().split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]


OUTSIDE = (
    st.binary(max_size=60)
    .map(lambda data: data.replace(b"`", b"'").replace(b"~", b"-").replace(b"<", b"{"))
    .map(lambda data: data + b"\n" if data and not data.endswith(b"\n") else data)
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings.default.max_examples * 3 // 5,
)
@given(
    before=OUTSIDE, inside=OUTSIDE, after=st.binary(max_size=40), newline=st.sampled_from([b"\n", b"\r\n"])
)
def test_nothing_outside_the_markers_changes_by_a_byte(
    workspace: Workspace, before: bytes, inside: bytes, after: bytes, newline: bytes
) -> None:
    after = after.replace(b"`", b"'").replace(b"~", b"-").replace(b"<", b"{")
    readme = before + MARKERS[0] + newline + inside + MARKERS[1] + (newline + after if after else b"")
    written = export_scoreboard(readme, workspace)
    head, tail = before + MARKERS[0] + newline, MARKERS[1] + (newline + after if after else b"")
    assert written.startswith(head)
    assert written.endswith(tail)
    between = written[len(head) : len(written) - len(tail)]
    assert between.count(b"\n") == between.count(newline)
    assert export_scoreboard(written, workspace) == written


def test_a_byte_order_mark_before_the_first_marker_is_kept(workspace: Workspace) -> None:
    readme = b"\xef\xbb\xbf" + MARKERS[0] + b"\n" + MARKERS[1]
    assert export_scoreboard(readme, workspace).startswith(b"\xef\xbb\xbf" + MARKERS[0])


@pytest.mark.parametrize(
    ("readme", "words"),
    [
        (b"", "is missing"),
        (BEGIN.encode(), f"{END} is missing"),
        (b"\n".join([*MARKERS, MARKERS[1]]), "stands 2 times"),
        (b"\n".join([MARKERS[0], *MARKERS]), "stands 2 times"),
        (b"\n".join(reversed(MARKERS)), "stands before"),
        (b"text " + BEGIN.encode() + b"\n" + MARKERS[1], "is missing"),
        (b"```\n" + b"\n".join(MARKERS) + b"\n```\n", "is missing"),
    ],
)
def test_markers_that_are_off_are_told_in_one_sentence(
    workspace: Workspace, readme: bytes, words: str
) -> None:
    with pytest.raises(WorkspaceError) as caught:
        export_scoreboard(readme, workspace)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"~~~\n```\n", b"\n~~~\n"),
        (b"````markdown\n```\n", b"\n```\n````\n"),
        (b"```\n~~~\n```` x\n", b"\n````\n"),
        (b"    ", b"\n"),
        (b"  \t", b"\n"),
    ],
)
def test_markers_in_a_block_of_code_or_in_a_sentence_are_only_talked_about(
    workspace: Workspace, before: bytes, after: bytes
) -> None:
    indent = before if not before.strip() else b""
    talk = b"Put `" + BEGIN.encode() + b"`:\n\n" + before + (b"\n" + indent).join(MARKERS) + after
    readme = talk + b"\n".join(MARKERS) + b"\n"
    assert export_scoreboard(readme, workspace).startswith(talk + MARKERS[0])


def test_code_within_a_line_is_no_fence(workspace: Workspace) -> None:
    readme = b"```x``` is code\n" + b"\n".join(MARKERS) + b"\n"
    assert export_scoreboard(readme, workspace).startswith(b"```x``` is code\n" + MARKERS[0])


def test_a_workspace_without_scores_says_so(workspace: Workspace) -> None:
    assert "No submission is scored yet." in scoreboard_markdown(workspace)


def test_models_are_sorted_by_their_mean_and_halves_are_rounded_up(workspace: Workspace) -> None:
    put(workspace, "glm5", correctness=80, code_quality=90)
    put(workspace, "qwen36", overall=94)
    assert rows(scoreboard_markdown(workspace)) == [
        ["Model", "kv", "Mean"],
        ["qwen36", "94 A", "**94** (1)"],
        ["glm5", "83 B", "**83** (1)"],
    ]


def test_the_letter_of_a_judge_stands_before_what_the_points_earn(workspace: Workspace) -> None:
    put(workspace, "glm5", "anna", overall=94)
    card, stamp = workspace.scorecard("kv", "glm5", "anna")
    save_scorecard(workspace.scorecard_path("kv", "glm5", "anna"), card.with_grade("B"), stamp)
    put(workspace, "glm5", "bert", overall=94)
    assert rows(scoreboard_markdown(workspace))[1][1] == "94.0 (2) B"


def test_columns_are_headed_by_short_ids_and_the_titles_stand_below(workspace: Workspace) -> None:
    put(workspace, "glm5", overall=94)
    text = scoreboard_markdown(workspace)
    assert rows(text)[0] == ["Model", "kv", "Mean"]
    assert "Tasks – kv: KV cache." in text


def test_every_change_of_a_score_makes_an_export_stale(workspace: Workspace) -> None:
    readme = b"\n".join(MARKERS)
    seen = set()
    for score in (None, 0, 84, 85, 86):
        for judge in ("anna", "bert"):
            put(workspace, "glm5", judge, code_quality=score)
            seen.add(export_scoreboard(readme, workspace))
    assert len(seen) == 10


def test_several_judges_give_a_mean_with_their_number(workspace: Workspace) -> None:
    put(workspace, "glm5", "anna", overall=80)
    put(workspace, "glm5", "bert", overall=85)
    text = scoreboard_markdown(workspace)
    assert rows(text)[1][1] == "82.5 (2) B"
    assert "Judges: anna, bert." in text


def test_a_card_under_way_shows_its_progress_and_no_points(workspace: Workspace) -> None:
    put(workspace, "glm5", correctness=80)
    assert rows(scoreboard_markdown(workspace))[1] == ["glm5", "1 of 2", "–"]


def test_scores_of_files_that_changed_since_are_marked(workspace: Workspace) -> None:
    put(workspace, "glm5", overall=80)
    assert "†" not in scoreboard_markdown(workspace)
    (workspace.submissions / "glm5" / "kv" / "kv_cache.py").write_text("pass\n")
    assert rows(scoreboard_markdown(workspace))[1][1] == "80 B †"


def test_published_scores_stand_apart_from_those_of_the_files_here(workspace: Workspace) -> None:
    put(workspace, "glm5", "anna", overall=60)
    put(workspace, "glm5", "paper", here=False, overall=90)
    text = scoreboard_markdown(workspace)
    assert rows(text)[1][1] == "60 B"
    here, elsewhere = text.split("**Scored elsewhere**")
    assert "paper" not in here
    assert "Letters are the judge's own, else what the points earn." in here
    # what was published has no letter of ours
    assert rows(elsewhere)[1][1] == "90"
    assert "Letters" not in elsewhere
    assert "not for the files in this repository" in elsewhere


def test_published_scores_of_reconstructions_say_that_the_files_are_reconstructions(
    workspace: Workspace,
) -> None:
    (workspace.submissions / "glm5" / "kv" / "submission.toml").write_text('origin = "reconstruction"\n')
    put(workspace, "glm5", "paper", here=False, overall=90)
    assert "are reconstructions, not the models' code" in scoreboard_markdown(workspace)


def test_scores_of_reconstructions_that_are_here_say_that_they_are_no_models_code(
    workspace: Workspace,
) -> None:
    put(workspace, "glm5", overall=90)
    put(workspace, "qwen36", overall=80)
    assert "econstruction" not in scoreboard_markdown(workspace)
    (workspace.submissions / "glm5" / "kv" / "submission.toml").write_text(
        'origin = "reconstruction"\nmodel = "GLM_5"\n'
    )
    assert "\n\nReconstructions, not the models' code: GLM\\_5 (kv).\n\n" in scoreboard_markdown(workspace)
    (workspace.submissions / "qwen36" / "kv" / "submission.toml").write_text('origin = "reconstruction"\n')
    told = scoreboard_markdown(workspace)
    assert "\n\nThe submissions scored here are reconstructions, not the models' code.\n\n" in told


def test_names_cannot_break_out_of_their_cells(workspace: Workspace) -> None:
    title = "a|b\\| <!-- /judge-tui:scoreboard -->\x1b[31m\u202e*x*"
    (workspace.submissions / "glm5" / "kv" / "submission.toml").write_text(
        'model = "' + title.replace("\\", "\\\\").replace("\x1b", "\\u001b") + '"\n'
    )
    put(workspace, "glm5", overall=1)
    put(workspace, "glm5", correctness=3)
    text = scoreboard_markdown(workspace)
    assert END not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a\\|b\\\\\\| &lt;!-- /judge-tui:scoreboard --&gt;␛\\[31m⟦U+202E⟧\\*x\\*" in text
    assert "| Code \\| Quality |" in text


def test_the_export_does_not_depend_on_the_day(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    put(workspace, "glm5", overall=80)
    before = scoreboard_markdown(workspace)
    monkeypatch.setattr("judge_tui.judging.card.now", lambda: None)
    assert scoreboard_markdown(workspace) == before


def test_an_undated_card_written_elsewhere_is_exported(workspace: Workspace) -> None:
    path = workspace.scorecard_path("kv", "glm5", "paper")
    path.parent.mkdir(parents=True)
    path.write_text('task = "kv"\nmodel = "glm5"\njudge = "paper"\ngrade = "A-"\n')
    assert Scorecard(task="kv", model="glm5", judge="paper").scored_elsewhere
    text = scoreboard_markdown(workspace)
    assert rows(text)[1] == ["glm5", "A-", "–"]
    assert "Newest" not in text


def test_notes_on_files_that_are_here_stand_below_the_tables_with_their_lines(workspace: Workspace) -> None:
    (workspace.submissions / "glm5" / "kv" / "a_b.py").write_text("x = 1\n" * 9)
    for here, judge in ((True, "anna"), (False, "elsewhere")):
        put(workspace, "glm5", judge, here=here, correctness=80)
        card, stamp = workspace.scorecard("kv", "glm5", judge)
        seen = new_note("bug", f"drops <b> of {judge}", severity="critical", file="a_b.py", lines=(3, 5))
        card = card.with_note(seen).with_note(new_note("strength", "short", file="a_b.py", lines=(7, 7)))
        save_scorecard(workspace.scorecard_path("kv", "glm5", judge), card, stamp)
    text = scoreboard_markdown(workspace)
    assert "strengths**\n\n- short (a\\_b.py:7)\n" in text
    assert "bugs**\n\n- drops &lt;b&gt; of anna (critical, a\\_b.py:3–5)\n" in text
    assert "of elsewhere" not in text
