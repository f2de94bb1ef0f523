"""Every action of every screen, pressed by its key: each must change what it says it changes."""

from __future__ import annotations

import importlib

from judge_tui.tui.keys.keymap import key_table, load_keys

from .test_every_action_comparing import (
    BLOCKED_STEPS,
    CHECK_STEPS,
    CODE_STEPS,
    NOTE_STEPS,
    PLACES_STEPS,
    REVEAL_STEPS,
    RUBRIC_STEPS,
    SCREEN_STEPS,
    SEARCH_STEPS,
)
from .test_every_action_of_home import HOME_STEPS
from .test_every_action_of_the_matchup import MATCHUP_STEPS

#: Actions that need more than a key on a screen, and the tests that press them.
ELSEWHERE = {
    "rubric.a-comment-of-earlier": (
        "test_earlier_comment.test_one_is_picked_goes_behind_what_stands_and_is_undone_at_once"
    ),
    "rubric.what-it-is-as-a-whole": (
        "test_whole_verdict.test_it_is_picked_with_the_note_that_shows_it_and_undone_at_once"
    ),
    "everywhere.what-the-task-asks-for": (
        "test_statement.test_a_comparison_shows_what_was_asked_for_and_comes_back"
    ),
    "home.what-the-task-asks-for": "test_statement.test_home_shows_the_text_of_a_challenge_of_its_own",
    "statement.back": "test_statement.test_a_comparison_shows_what_was_asked_for_and_comes_back",
    "report.next-heading": "test_report_screen.test_headings_are_gone_to_and_a_link_leads_back",
    "report.previous-heading": "test_report_screen.test_headings_are_gone_to_and_a_link_leads_back",
    "report.back-to-where-a-link-came-from": (
        "test_report_screen.test_a_link_is_followed_to_the_note_to_its_code_and_into_the_pane"
    ),
    "report.write-a-round": "test_report_screen.test_a_round_is_begun_and_written_in_the_judges_editor",
    "report.next-round": "test_report_screen.test_rounds_are_a_key_away_and_one_leads_back_to_all",
    "report.read-again": "test_report_screen.test_what_another_program_wrote_is_read_again",
    "report.write-a-file": ("test_report_screen.test_it_is_written_into_a_file_in_the_format_of_its_name"),
    "checks.say-how-it-is-called": (
        "test_adapting.test_a_check_leads_to_a_skeleton_an_editor_and_the_checks_again"
    ),
    "checks.one-edit-that-mends-it": ("test_repair.test_a_key_looks_for_an_edit_and_its_line_is_a_key_away"),
    "evidence.say-how-it-is-called": "test_adapting.test_evidence_leads_there_as_well",
    "evidence.curve-in-full": "test_plot_screen.test_evidence_leads_to_its_curve_and_back",
    "plot.back": "test_plot_screen.test_evidence_leads_to_its_curve_and_back",
    "waiting.break-it-off": "test_adapting.test_waiting_for_the_skeleton_can_be_broken_off",
    "everywhere.to-the-shell-fg-comes-back": "test_terminal.test_ctrl_z_leads_to_the_shell_and_fg_comes_back",
    "home.to-the-shell-fg-comes-back": "test_home_terminal.test_ctrl_z_leads_from_home_to_the_shell_and_back",
    "matchup.c-is-ahead": "test_matchup_screen.test_three_have_a_matchup_for_all_and_one_for_every_two",
    "theirs.take-their-change-back": (
        "test_two_windows.test_undo_over_a_change_of_another_window_says_whose_it_is_and_waits"
    ),
    "matchup.pairs": "test_matchup_screen.test_three_have_a_matchup_for_all_and_one_for_every_two",
    "matchup.previous-pair": "test_matchup_screen.test_three_have_a_matchup_for_all_and_one_for_every_two",
}

TOURS = (
    CODE_STEPS, SEARCH_STEPS, PLACES_STEPS, NOTE_STEPS, CHECK_STEPS, SCREEN_STEPS, RUBRIC_STEPS,
    BLOCKED_STEPS, REVEAL_STEPS, MATCHUP_STEPS, HOME_STEPS,
)  # fmt: skip


def test_every_action_is_pressed_by_a_test() -> None:
    load_keys()
    pressed = {step[0] for steps in TOURS for step in steps if not callable(step) and len(step) == 3}
    known = set(key_table())
    assert known - pressed - set(ELSEWHERE) == set()
    assert {name for name in pressed if "." in str(name)} - known == set()
    for place in ELSEWHERE.values():
        module, _, name = place.partition(".")
        assert hasattr(importlib.import_module(f"tests.tui.{module}"), name), place
