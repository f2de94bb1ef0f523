from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.blind import BlindMark, merged
from judge_tui.judging.card import Scorecard, now
from judge_tui.judging.export import scoreboard_markdown
from judge_tui.judging.scoreboard import build_board, sealed_cards
from judge_tui.judging.scorecard import load_scorecard, save_scorecard
from judge_tui.judging.sealed_order import order_under, sealed_order
from judge_tui.judging.standing import Standing, standing
from judge_tui.judging.storage import FileStamp
from judge_tui.judging.workspace import CONFIG, Workspace

MODELS = ("glm5", "qwen36", "kimi-k2.6")
ABOUT = ("kv", "anna")


def save(workspace: Workspace, model: str, mark: BlindMark | None, **scores: int) -> Path:
    path = workspace.scorecard_path("kv", model, "anna")
    card = Scorecard("kv", model, "anna", submission=workspace.submission(model, "kv").digest, blind=mark)
    for dimension, score in scores.items():
        card = card.with_score(dimension, score)
    save_scorecard(path, card, FileStamp.at(path))
    return path


def revealed(**scores: int) -> BlindMark:
    return BlindMark(began=now()).revealing(scores, "B", now())


def test_what_a_card_says_of_a_blind_judging_comes_back_with_keys_of_a_later_version(
    workspace: Workspace,
) -> None:
    mark = replace(revealed(correctness=85), known=True, extra={"witness": "bob"})
    assert load_scorecard(save(workspace, "glm5", mark, correctness=85)).blind == mark


def test_scores_that_are_changed_after_the_reveal_are_named_until_they_are_taken_back(
    workspace: Workspace,
) -> None:
    path = save(workspace, "glm5", revealed(correctness=85, code_quality=70), correctness=85, code_quality=70)
    for score, changed in ((90, ("correctness",)), (85, ()), (None, ("correctness",))):
        card = load_scorecard(path).with_score("correctness", score).with_comment("correctness", "hm")
        save_scorecard(path, card, FileStamp.at(path))
        mark = load_scorecard(path).blind
        assert mark is not None
        assert (mark.changed, mark.scores) == (changed, {"correctness": 85, "code_quality": 70})
    card = load_scorecard(path).with_score("correctness", 85).with_overall(80)
    save_scorecard(path, card, FileStamp.at(path))
    assert "overall" in path.read_text().split("changed = [")[1].split("]")[0]


def test_a_second_reveal_changes_nothing() -> None:
    mark = revealed(correctness=85)
    assert mark.revealing({"correctness": 10}, "A", "later") == mark
    assert merged(mark, BlindMark(began="2026-01-01")) == mark
    assert merged(BlindMark(began="2026-01-01"), mark) == mark
    assert merged(None, mark) == merged(mark, None) == mark


def test_a_sealed_card_is_on_no_board_until_its_reveal(workspace: Workspace) -> None:
    without = scoreboard_markdown(workspace)
    path = save(workspace, "glm5", BlindMark(began=now()), correctness=85, code_quality=70)
    assert scoreboard_markdown(workspace) == without
    assert [card.model for card in sealed_cards(workspace)] == ["glm5"]
    card = load_scorecard(path)
    assert card.sealed
    assert card.blind is not None
    save_scorecard(
        path, replace(card, blind=card.blind.revealing(card.given, "A", now())), FileStamp.at(path)
    )
    assert [row.model for row in build_board(workspace).rows] == ["glm5"]
    assert sealed_cards(workspace) == ()


def test_a_board_tells_that_a_blind_score_was_changed_afterwards(workspace: Workspace) -> None:
    save(workspace, "glm5", revealed(correctness=85, code_quality=70), correctness=85, code_quality=70)
    assert "‡" not in scoreboard_markdown(workspace)
    save(workspace, "qwen36", revealed(correctness=85, code_quality=70), correctness=95, code_quality=70)
    board = scoreboard_markdown(workspace)
    assert "| qwen36 | 89 B ‡ |" in board
    assert "‡ Scored blind, and changed after the names were revealed." in board


@pytest.mark.parametrize("line", ["revealed = 3", "changed = 1", "known = 1", "scores = 4"])
def test_a_malformed_mark_is_told_with_its_line(workspace: Workspace, line: str) -> None:
    path = workspace.scorecard_path("kv", "glm5", "anna")
    path.parent.mkdir(parents=True)
    path.write_text(f'task = "kv"\nmodel = "glm5"\njudge = "anna"\n\n[blind]\n{line}\n')
    with pytest.raises(WorkspaceError) as caught:
        load_scorecard(path)
    assert caught.value.line == 6


def test_the_drawn_order_stays_whoever_opens_it_and_however_the_models_are_named(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "order.json"
    order = sealed_order(file, MODELS, ABOUT)
    assert sorted(order) == sorted(MODELS)
    assert all(sealed_order(file, list(reversed(MODELS)), ABOUT) == order for _ in range(3))
    assert [path.name for path in file.parent.iterdir()] == ["order.json"]


def test_every_order_is_drawn_about_equally_often() -> None:
    drawn = [order_under(number.to_bytes(4, "big"), MODELS) for number in range(1200)]
    assert len(set(drawn)) == 6
    # 200 each are due; five standard deviations are 65
    assert all(135 < drawn.count(order) < 265 for order in set(drawn))


def test_a_glance_into_the_file_tells_no_order(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(8)]
    for file in files:
        sealed_order(file, MODELS, ABOUT)
        text = file.read_text()
        assert not any(name in text for name in (*MODELS, *ABOUT))
        assert file.stat().st_mode & 0o077 == 0
    assert len({file.read_text() for file in files}) == len(files)


@pytest.mark.parametrize("part", ["seed", "digest"])
def test_a_changed_file_is_noticed(tmp_path: Path, part: str) -> None:
    file = tmp_path / "order.json"
    sealed_order(file, MODELS, ABOUT)
    raw = json.loads(file.read_text())
    raw[part] = ("0" if raw[part][0] != "0" else "1") + raw[part][1:]
    file.write_text(json.dumps(raw))
    with pytest.raises(WorkspaceError, match="not the one that was drawn"):
        sealed_order(file, MODELS, ABOUT)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"seed": "zz", "digest": ""}', b'{"seed": 3}', b"\xff"])
def test_a_file_that_is_no_draw_is_told_in_one_sentence(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "order.json"
    file.write_bytes(data)
    with pytest.raises(WorkspaceError, match="not the one that was drawn"):
        sealed_order(file, MODELS, ABOUT)


def test_the_order_of_other_models_or_of_another_judge_is_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    sealed_order(file, MODELS, ABOUT)
    for models, about in ((MODELS[:2], ABOUT), (MODELS, ("kv", "bob"))):
        with pytest.raises(WorkspaceError):
            sealed_order(file, models, about)


def test_of_two_windows_that_draw_at_once_the_first_draw_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "order.json"
    first = sealed_order(file, MODELS, ABOUT)
    looks = iter([False])
    real = Path.is_file
    # the second window looks before the first one has written
    monkeypatch.setattr(Path, "is_file", lambda path: next(looks) if path == file else real(path))
    assert sealed_order(file, MODELS, ABOUT) == first


def test_a_disk_without_hard_links_and_flushing_keeps_a_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr(os, "fsync", refused)
    file = tmp_path / "state" / "order.json"
    first = sealed_order(file, MODELS, ABOUT)
    assert sealed_order(file, MODELS, ABOUT) == first
    assert [p.name for p in file.parent.iterdir()] == ["order.json"]


def test_an_order_that_cannot_be_kept_is_none(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(WorkspaceError, match="cannot be kept"):
        sealed_order(tmp_path / "state" / "order.json", MODELS, ABOUT)


def test_an_organiser_makes_blind_judging_the_rule(workspace: Workspace) -> None:
    assert not workspace.settings.blind
    (workspace.root / CONFIG).write_text('[blind]\nalways = true\nalso = ["Zhipu"]\n')
    settings = Workspace.at(workspace.root).settings
    assert (settings.blind, settings.also_hidden) == (True, ("Zhipu",))


def test_a_rule_that_is_neither_true_nor_false_is_told(workspace: Workspace) -> None:
    (workspace.root / CONFIG).write_text('[blind]\nalways = "yes"\n')
    with pytest.raises(WorkspaceError, match="'always' must be true or false") as caught:
        _ = Workspace.at(workspace.root).settings
    assert caught.value.line == 2


def test_a_cell_of_home_tells_nothing_of_a_sealed_card(workspace: Workspace) -> None:
    path = save(workspace, "glm5", BlindMark(began=now()), correctness=85)
    cell = standing(workspace, "glm5", "kv", "anna")
    assert cell == Standing("glm5", "kv", files=1, blind=True)
    assert cell.open
    # another judge is told by the own card alone
    assert not standing(workspace, "glm5", "kv", "bob").blind
    path.write_text(path.read_text().replace("began", "revealed"))
    assert standing(workspace, "glm5", "kv", "anna").scored == 1
