"""A verdict that is shown, or kept on a card, is one on the files as they are."""

from __future__ import annotations

from pathlib import Path

from judge_tui.checks.submission import ADAPTER, META
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.code.line_map import LineMap
from judge_tui.tui.code.source import Source

from .conftest import CODE, ENGINE, Driver, make_app, running

#: An engine that goes on after it was asked to end, as one does that waits for a compiler.
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + ENGINE.replace(
    "END", "time.sleep(600)"
)

#: An engine that tells of one more check when it is asked to end.
LATE = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
""" + ENGINE.replace(
    "END",
    """
signal.sigwait([signal.SIGTERM])
for s in request["submissions"]:
    tell(type="finished", outcome=dict(
        model=s["model"], task="kv", check="late", verdict="pass", summary="", seconds=0.1))
""",
)


def changed(app: Driver, *indices: int) -> None:
    """Change the code of some submissions, and tell of each on its own."""
    for index in indices:
        path = app.compare.panes[index].submission.path / "kv_cache.py"
        path.write_text(f"# {index}\n" + path.read_text())
        app.compare.parts.watching.disk_changed(frozenset({path}))


async def test_submissions_that_change_right_after_each_other_all_lose_their_verdicts(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        app.compare.parts.watching.reruns = False
        changed(app, 0, 1)
        await app.until(lambda: "A, B changed on disk; R runs the checks again." in app.messages())
        assert not app.compare.session.outcomes
        assert app.compare.checks_pane.seed is None


async def test_an_engine_that_is_slow_to_end_leaves_no_verdict_of_the_old_files_in_view(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=STUBBORN)) as app:
        session = app.compare.session
        await app.until(lambda: len(session.outcomes) == 6)
        changed(app, 1)
        assert {model for model, _ in session.outcomes} == {"alpha"}
        session.score_now(1)
        session.digit("9")
        session.flush()
        card = load_scorecard(session.paths[1])
        assert (card.submission, card.checks) == (session.submissions[1].digest, ())


async def test_what_an_engine_finds_after_the_files_have_changed_is_not_heard(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=LATE)) as app:
        session = app.compare.session
        await app.until(lambda: len(session.outcomes) == 6)
        app.compare.parts.watching.reruns = False
        changed(app, 0, 1)
        await app.until(lambda: not app.compare.runner.active)
        assert not session.outcomes


async def test_a_score_of_other_files_than_before_keeps_no_verdict_of_those(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        session = app.compare.session
        app.compare.parts.watching.reruns = False
        session.score_now(1)
        session.digit("9")
        session.flush()
        assert [seen.verdict for seen in load_scorecard(session.paths[1]).checks] == ["fail", "pass", "pass"]
        assert session.caps(1, "correctness")
        changed(app, 1)
        assert not session.caps(1, "correctness")
        session.keypad.reset()
        session.digit("8")
        session.take_score()
        session.flush()
        card = load_scorecard(session.paths[1])
        assert (card.submission, card.checks) == (session.submissions[1].digest, ())


async def test_checks_that_are_run_again_are_of_the_code_in_view_where_no_change_was_told(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        session, pane = app.compare.session, app.compare.panes[1]
        path = pane.submission.path / "kv_cache.py"
        before = pane.submission.digest
        for number, key in enumerate("Rr"):
            path.write_text(f"# {number}\n{CODE}")
            await app.press("c", key)
            await app.until(lambda number=number: pane.source.lines[0] == f"# {number}")
            await app.settle()
            assert pane.submission.digest != before
            assert session.outcomes["beta", "accuracy"].summary.startswith("again")
            before = pane.submission.digest
        assert "B changed on disk; checks run again." in app.messages()


async def test_a_submission_that_becomes_malformed_loses_its_verdicts(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        app.compare.parts.watching.reruns = False
        path = app.compare.panes[0].submission.path / META
        path.write_text("origin = [\n")
        app.compare.parts.watching.disk_changed(frozenset({path}))
        assert {model for model, _ in app.compare.session.outcomes} == {"beta"}


async def test_a_binding_that_changes_in_a_tree_of_its_own_has_the_checks_run_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    bindings = tmp_path / "bindings"
    bindings.mkdir()
    bound = Workspace.at(workspace.root, bindings=bindings)
    app_ = make_app(bound)
    app_._options.bindings, app_._options.watch = bindings, True
    async with running(app_) as app:
        await app.settle()
        app.compare.parts.watching.reruns = False
        overlay = app.compare.panes[1].submission.overlays[0]
        overlay.mkdir(parents=True)
        count = 0

        def told() -> bool:
            # the watch begins some time after its thread
            nonlocal count
            count += 1
            (overlay / ADAPTER).write_text(f"# {count}\n")
            return {model for model, _ in app.compare.session.outcomes} == {"alpha"}

        await app.until(told)


async def test_code_that_changes_while_it_is_read_is_shown_as_it_is_at_last(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        pane = app.compare.panes[0]
        await app.until(lambda: pane.settled and pane.view.symbols)
        before = pane.source
        first, second = (Source(f"# {number}\n{CODE}".encode()) for number in (1, 2))
        (pane.submission.path / pane.file).write_bytes(second.text.encode())
        # both were begun when the old text was in view
        for source in (first, second):
            pane._renew(pane.file, before, source, LineMap(before.lines, source.lines))
        await app.until(lambda: pane.source.lines[0] == "# 2")
