"""A matchup that was published elsewhere: shown beside the judge's own, and never written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from judge_tui.judging.matchup import Matchup, Matchups, load_matchups, render_matchups, save_matchups
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.matchup_desk import WINNER, MatchupDesk
from judge_tui.tui.desk.matchup_document import matchup_document

from .conftest import make_app, running

MODELS = ("alpha", "beta")
PUBLISHED = Matchup(("beta", "alpha"), "beta", 7, "Published words.", source="https://x")


def publish(workspace: Workspace, *own: Matchup) -> Path:
    path = workspace.matchups_path("kv", "anna")
    save_matchups(path, Matchups("kv", "anna", (PUBLISHED, *own)), None)
    return path


@pytest.fixture
def desk(workspace: Workspace) -> Iterator[MatchupDesk]:
    publish(workspace)
    found = MatchupDesk(workspace, "kv", MODELS, "anna")
    yield found
    found.close()


def on_disk(desk: MatchupDesk) -> tuple[Matchup, ...]:
    desk.flush()
    return load_matchups(desk.path).matchups


def test_beside_a_published_matchup_the_judges_own_begins_blank(desk: MatchupDesk) -> None:
    assert desk.matchup.blank
    assert desk.published == (PUBLISHED,)
    desk.edge(WINNER, "alpha")
    published, own = on_disk(desk)
    assert published == PUBLISHED
    assert (own.winner, own.key_differentiator, own.source) == ("alpha", "", "")
    desk.undo()
    assert on_disk(desk) == (PUBLISHED,)


def test_a_word_taken_back_and_said_again_leaves_what_was_published(desk: MatchupDesk) -> None:
    desk.edge(WINNER, "alpha")
    desk.remove(WINNER)
    assert on_disk(desk) == (PUBLISHED,)
    desk.edge(WINNER, "beta")
    published, own = on_disk(desk)
    assert (published, own.winner, own.source) == (PUBLISHED, "beta", "")


def test_the_other_windows_word_is_a_conflict_and_the_published_one_is_none(
    desk: MatchupDesk, workspace: Workspace
) -> None:
    other = MatchupDesk(workspace, "kv", MODELS, "anna")
    other.edge(WINNER, "alpha")
    assert len(on_disk(other)) == 2
    other.close()
    desk.edge(WINNER, "beta")
    assert on_disk(desk)[1].winner == "alpha"
    assert desk.unsaved
    desk.settle(mine=True)
    published, own = on_disk(desk)
    assert (published, own.winner) == (PUBLISHED, "beta")


def test_words_that_an_earlier_version_kept_under_a_published_source_are_the_judges_own() -> None:
    path = Path("anna.toml")
    kept = replace(PUBLISHED, winner="alpha")
    document = matchup_document(path, Matchups("kv", "anna"), MODELS)
    data = render_matchups(Matchups("kv", "anna", (kept,))).encode()
    assert document.parse(data, path) == replace(kept, source="")


async def test_the_screen_shows_what_was_published_and_leaves_it(workspace: Workspace) -> None:
    path = publish(workspace)
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        assert "Winner              –" in app.text()
        assert "Published in https://x: B Beta by 7 points. Published words." in app.text()
        await app.press("A")
        app.matchup.flush()
    assert [(one.winner, one.source) for one in load_matchups(path).matchups] == [
        ("beta", "https://x"),
        ("alpha", ""),
    ]
