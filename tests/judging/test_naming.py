from __future__ import annotations

import getpass
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.errors import UsageError
from judge_tui.judging.naming import default_judge, folder_name, judge_name, match, normalized, recordable

NAMES = ["glm5", "glm5.1", "kimi-k2.6", "minimax-m2.7", "qwen36"]
ALIASES = {"kimi": "kimi-k2.6", "qwen3.6-27b": "qwen36"}


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("qwen3-6", "qwen36"),
        ("Qwen3.6", "qwen36"),
        ("QWEN3.6-27B", "qwen36"),
        ("glm5", "glm5"),
        ("glm-5", "glm5"),
        ("glm51", "glm5.1"),
        ("mini", "minimax-m2.7"),
        ("k", "kimi-k2.6"),
        ("kimi", "kimi-k2.6"),
    ],
)
def test_a_name_is_meant_exactly_by_alias_or_by_unique_prefix(wanted: str, name: str) -> None:
    assert match(wanted, NAMES, ALIASES, "model") == name


def test_an_ambiguous_name_lists_what_it_may_mean() -> None:
    with pytest.raises(UsageError) as caught:
        match("glm", NAMES, ALIASES, "model")
    assert "glm5, glm5.1" in caught.value.hint


@pytest.mark.parametrize(
    ("wanted", "near"), [("qwen63", "qwen36"), ("gml5", "glm5"), ("minmax", "minimax-m2.7")]
)
def test_an_unknown_name_lists_the_near_ones(wanted: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        match(wanted, NAMES, ALIASES, "model")
    assert near in caught.value.hint


@pytest.mark.parametrize("wanted", ["zzz", "", "--", "../glm5"])
def test_a_name_that_is_near_nothing_lists_all(wanted: str) -> None:
    if normalized(wanted) in map(normalized, NAMES):
        assert match(wanted, NAMES, ALIASES, "model") in NAMES
        return
    with pytest.raises(UsageError) as caught:
        match(wanted, NAMES, ALIASES, "model")
    assert "There are: glm5" in caught.value.hint


@given(st.sampled_from(NAMES), st.integers(1, 12))
def test_a_prefix_never_means_a_name_that_does_not_begin_so(name: str, length: int) -> None:
    wanted = name[:length]
    try:
        found = match(wanted, NAMES, ALIASES, "model")
    except UsageError:
        return
    assert normalized(found).startswith(normalized(wanted))


@pytest.mark.parametrize(
    "name",
    ["", "  ", ".", "..", ".hidden", "a/b", "a\\b", "a\nb", "a\0b", "x" * 101, "\u202eevil", 'q"', "a:b"],
)
def test_a_judge_whose_name_cannot_be_a_file_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        judge_name(name)


@given(st.text(max_size=60))
def test_a_judge_name_that_is_taken_stays_in_its_folder(name: str) -> None:
    try:
        taken = judge_name(name)
    except UsageError:
        return
    assert judge_name(taken) == taken
    assert "/" not in taken
    assert taken not in ("", ".", "..")
    assert len(f"{taken}.toml".encode()) < 256


def test_composed_and_decomposed_spellings_are_one_judge() -> None:
    assert judge_name("Zoe\u0308") == judge_name("Zoë") == "Zoë"


def test_a_model_cannot_be_called_as_what_nobody_wins() -> None:
    with pytest.raises(UsageError, match="would be a tie"):
        folder_name("tie")
    assert folder_name("tie", "task") == "tie"


def test_a_folder_name_that_is_not_utf_8_is_refused_in_one_sentence() -> None:
    recordable(["Modèle", "b"])
    with pytest.raises(UsageError, match="is not UTF-8") as caught:
        recordable(["a", os.fsdecode(b"ga\xffmma")])
    assert str(caught.value).isascii()
    assert "Rename the folder." in str(caught.value)


def test_a_model_cannot_be_called_as_the_folder_of_matchups() -> None:
    with pytest.raises(UsageError):
        folder_name("Matchups")


def test_the_judge_is_the_configured_one_else_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_TUI_JUDGE", "anna")
    assert default_judge() == "anna"
    monkeypatch.delenv("JUDGE_TUI_JUDGE")
    monkeypatch.setattr(getpass, "getuser", lambda: "bert")
    assert default_judge() == "bert"

    def unknown() -> str:
        raise OSError("no user")

    monkeypatch.setattr(getpass, "getuser", unknown)
    with pytest.raises(UsageError, match="--judge"):
        default_judge()
