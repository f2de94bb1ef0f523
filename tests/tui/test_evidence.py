"""The figures of a check beside their limits."""

from __future__ import annotations

from msgspec.structs import replace

from judge_tui.checks.hosts import host
from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.evidence import EvidenceScreen

from .conftest import make_app, running

LONG = "entries of the cache that nobody has written and a query reads all the same"
SAID = "queries go in, and what comes out says nothing of what was in the cache before"


def outcome(*evidence: Evidence) -> Outcome:
    return Outcome(
        model="alpha", task="kv", check="accuracy", verdict=Verdict.FAIL, summary="one is wrong",
        seconds=0.1, seed=7, evidence=evidence,
    )  # fmt: skip


async def test_no_figure_is_told_by_its_beginning_alone(workspace: Workspace) -> None:
    long = Evidence(LONG, measured=SAID, limit="none of them", ok=False, file="kv_cache.py", line=15)
    short = Evidence("bytes", measured=9, limit=2, ok=True, unit="B")
    for width in (80, 120):
        async with running(make_app(workspace), size=(width, 24)) as app:
            await app.settle()
            await app.app.push_screen(EvidenceScreen(outcome(short, long), "A"))
            await app.pilot.pause()
            text = app.text()
            words = " ".join(text.split())
            assert f"{LONG}: {SAID}, limit none of them" in words
            assert "9 B 2 B" in words
            assert "kv_cache.py:15" in text


async def test_evidence_begins_at_what_failed_and_every_page_shows_other_rows(workspace: Workspace) -> None:
    held = [Evidence(f"row {n}", measured=n, limit=90, ok=True) for n in range(60)]
    async with running(make_app(workspace), size=(80, 24)) as app:
        await app.settle()
        screen = EvidenceScreen(outcome(*held, Evidence("the last", measured=99, limit=90, ok=False)), "A")
        await app.app.push_screen(screen)
        await app.pilot.pause()
        assert "✗ the last" in app.text()
        seen = [screen.rows.scroll_offset.y]
        for key in ("pageup", "pageup", "pagedown"):
            await app.press(key)
            seen.append(screen.rows.scroll_offset.y)
        assert seen[0] > seen[1] > seen[2] < seen[3]
        # the reader's own place is kept when the terminal changes
        place = screen.rows.key
        await app.pilot.resize_terminal(90, 26)
        assert screen.rows.key == place


async def test_evidence_opens_with_all_of_what_failed_in_view_and_its_sentence_stays(
    workspace: Workspace,
) -> None:
    held = [Evidence(f"row {n}", measured=n, limit=90, ok=True) for n in range(60)]
    bad = Evidence("the bad one", measured=99, limit=90, ok=False, note="word " * 150 + "all told")
    for before, from_the_first in ((20, True), (22, True), (23, False), (40, False)):
        async with running(make_app(workspace), size=(120, 35)) as app:
            await app.settle()
            evidence = (*held[:before], bad, *held)
            await app.app.push_screen(EvidenceScreen(outcome(*evidence), "A"))
            await app.pilot.pause()
            lines = app.text().split("\n")
            assert "one is wrong" in lines[1]
            assert any("quantity " in line for line in lines) == from_the_first
            assert any("all told" in line for line in lines)
            [at] = [n for n, line in enumerate(lines) if "✗ the bad one" in line]
            assert from_the_first or at < 8
            for key in ("G", "g"):
                await app.press(key)
                assert "one is wrong" in app.text().split("\n")[1]


async def test_a_sentence_too_long_to_stay_is_scrolled_with_what_it_rests_on(workspace: Workspace) -> None:
    long = replace(outcome(Evidence("bytes", measured=9)), summary="word " * 300 + "all told")
    async with running(make_app(workspace), size=(80, 24)) as app:
        await app.settle()
        await app.app.push_screen(EvidenceScreen(long, "A"))
        await app.pilot.pause()
        assert "word" in app.text().split("\n")[1]
        for _ in range(40):
            await app.press("j")
        assert "all told" in app.text()
        assert "bytes" in app.text()


async def test_another_machine_is_named_where_the_outcome_comes_from_one(workspace: Workspace) -> None:
    for name, told in ((host(), False), ("", False), ("far-away", True)):
        async with running(make_app(workspace), size=(120, 24)) as app:
            await app.settle()
            found = replace(outcome(Evidence("bytes", measured=9, limit=2, ok=True)), host=name, device="CPU")
            await app.app.push_screen(EvidenceScreen(found, "A"))
            await app.pilot.pause()
            assert ("on far-away" in app.text()) == told
            assert "cpu CPU" in app.text()


async def test_enter_on_a_row_without_a_line_says_so_and_stays(workspace: Workspace) -> None:
    placed = Evidence("bytes", measured=9, limit=2, ok=False, file="kv_cache.py", line=15)
    unplaced = Evidence("bytes", measured=9, limit=2, ok=False)
    async with running(make_app(workspace), size=(120, 35)) as app:
        await app.settle()
        places: list[object] = []
        for evidence, said in (
            (placed, "this row names no line; o goes to the finding"),
            (unplaced, "this row names no line"),
        ):
            screen = EvidenceScreen(outcome(evidence), "A")
            await app.app.push_screen(screen, places.append)
            await app.pilot.pause()
            await app.press("g", "enter")
            await app.until(lambda told=said: told in app.messages())
            assert app.app.screen is screen
            await app.press("j", "enter")
            if evidence is unplaced:
                assert app.app.screen is screen
                await app.press("q")
            assert app.app.screen is app.compare
        assert places == [("kv_cache.py", 15), None]


async def test_what_is_searched_for_elsewhere_is_told_where_it_is_not(workspace: Workspace) -> None:
    (workspace.submission("beta", "kv").path / "kv_cache.py").write_text("def other(): pass\n")
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("B", "slash", *"attend", "enter", "n")
        await app.until(lambda: app.app._notifications)
        messages = [told.message for told in app.app._notifications]
        assert messages == ["no match in this file; 1 in A; f opens others"]


async def test_a_long_path_is_cut_in_its_middle_and_keeps_its_line(workspace: Workspace) -> None:
    deep = Evidence("rel err", 0.5, 0.1, ok=False, file=f"{'package/' * 12}kv_cache.py", line=1234)
    async with running(make_app(workspace, engine=None), (80, 24)) as app:
        await app.app.push_screen(EvidenceScreen(outcome(deep), "A Alpha"))
        await app.until(lambda: "/kv_cache.py:1234" in app.text())
        assert "package/packa…e/package/kv_cache.py:1234" in app.text()
