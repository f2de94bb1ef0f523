"""What every screen looks like in every state, at the sizes that are promised."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.past import Past, PastComparisons

from .album import SIZES, Album, still
from .at_home import add_tasks, make_home, ready, score
from .conftest import CODE, DYING, ENGINE, HANGING, THREE, Driver, make_app, make_workspace, running
from .test_matchup_screen import SCORED
from .test_personal import configure

#: A state of the app, and the keys or deeds that lead there from the state before.
State = tuple[str, Sequence[str | Callable[[Driver], Awaitable[None]]]]

pytestmark = pytest.mark.quick

ODD = b"x = '\xff\xfe'\r\n\x00\x1b[31m\ty = 1\r\n" + "z = '漢字e\u0301'\n".encode()
#: One outcome of each kind, as the engine tells it, and figures of every form.
VERDICTS = ENGINE.replace(
    'verdict="fail" if bad else "pass"',
    'verdict=dict(zip(["accuracy", "own_tests", "size"], ["warn", "skip", "pass"] '
    'if s["model"] == "alpha" else ["fail", "unbound", "ambiguous"] '
    'if s["model"] == "beta" else ["error", "skip", "pass"]))[check]',
).replace(
    'else "all well"',
    'else "needs a GPU" if check == "own_tests" and s["model"] != "beta" else "said of " + check',
)

#: Stops at the check of size, which it is at.
HALFWAY = HANGING.replace(
    """        bad = check""",
    """        if check == "size":
            at = dict(model=s["model"], task=request["task"], check=check)
            tell(type="progress", note="shape 3 of 7", fraction=0.4, **at)
            continue
        bad = check""",
)


@pytest.fixture
def album(snapshot: SnapshotAssertion, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Album]:
    made = Album(snapshot, tmp_path, SIZES[:1] if request.config.getoption("tier") == "quick" else SIZES)
    yield made
    made.close()


async def show(app: Driver, album: Album, states: Sequence[State]) -> None:
    """Go from state to state, and keep the pictures of each."""
    for name, steps in states:
        for step in steps:
            if callable(step):
                await step(app)
            else:
                await app.press(step)
        app.app.clear_notifications()
        await album.keep(app, name)


async def saved(app: Driver) -> None:
    """Wait until the header says that everything is saved."""
    session = app.compare.session
    await app.until(lambda: not session.unsaved() and app.compare.parts.saving.saved == "saved 12:00:00")


async def searched(app: Driver) -> None:
    await app.until(lambda: all(pane.counts for pane in app.compare.panes))


async def listed(app: Driver) -> None:
    """Wait until the palette has found all that there is."""
    await app.until(lambda: app.app.screen.query_one("OptionList").option_count == 10)  # type: ignore[attr-defined]


async def matched(app: Driver) -> None:
    """Wait until the functions of the panes are matched."""
    await app.until(lambda: app.compare.parts.sync.alignments)


def opened(name: str) -> Callable[[Driver], Awaitable[None]]:
    """Wait until a screen is there."""

    async def wait(app: Driver) -> None:
        await app.until(lambda: type(app.app.screen).__name__ == name)

    return wait


async def changed_elsewhere(app: Driver) -> None:
    path = app.compare.session.paths[0]
    path.write_text(path.read_text().replace("score = 90", "score = 40"))
    await app.press("s", "c", "9", "1", "enter")
    await app.until(lambda: app.compare.parts.saving.conflicts)


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    other = CODE.replace("query * cache.keys", "(query * cache.keys) / np.sqrt(len(cache.keys))")
    path = workspace.root / "submissions" / "beta" / "kv" / "kv_cache.py"
    path.write_text(
        other + "\n\ndef long_name_of_a_function(first, second):\n    return '" + "long " * 50 + "'\n"
    )
    return workspace


async def test_code(album: Album, workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await show(
            app,
            album,
            [
                ("start", ()),
                ("count", ("5",)),
                ("selection", ("j", "v", "j", "j")),
                ("folded-and-bookmarked", ("escape", "g", "underscore", "b")),
                ("wrapped", ("underscore", "B", "G", "w", "i")),
                ("one-pane", ("t",)),
                ("zoomed", ("t", "z")),
                ("together", ("z", "A", "colon", "1", "3", "enter", "y", "y", matched)),
                ("search", ("y", "g", "slash", *"cache", searched)),
                ("searched", ("enter", "n")),
                ("files", ("escape", "f")),
                ("symbols", ("escape", "o", "u", "p")),
                ("line", ("escape", "colon", "9")),
                ("bookmarks", ("escape", "apostrophe")),
                ("differing-function", ("escape", "colon", "1", "9", "enter", "d", opened("DiffScreen"))),
                ("help", ("escape", "question_mark")),
                ("palette", ("escape", "ctrl+p", *"next", listed)),
                ("export", ("escape", "W")),
                ("resized", ("escape", "X", "X", "c", "X", "escape")),
            ],
        )


async def test_checks(album: Album, workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await show(
            app,
            album,
            [
                ("checks", ("c",)),
                ("one-verdict", ("v",)),
                ("zoomed", ("z",)),
                ("evidence", ("z", "enter")),
                ("evidence-help", ("question_mark",)),
                ("no-figures", ("escape", "escape", "v", "v", "j", "enter")),
                ("differences", ("escape", "d")),
                ("all-differences", ("a",)),
            ],
        )


async def test_scoring(album: Album, workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await show(
            app,
            album,
            [
                ("nothing-scored", ("s",)),
                ("capped", ("w", "c", "9", "0", saved)),
                ("comment", ("enter", *"argued well", saved)),
                ("overall", ("escape", "t", "7", "0", "O", "9", "5", saved)),
                ("summary", ("S", "enter", *"All in all.", "escape", saved)),
                ("new-note", ("escape", *"jjjjj", "v", "j", "a")),
                ("note", ("f3", *"vague", saved)),
                ("noted", ("escape",)),
                ("notes", ("L",)),
                ("no-notes", ("d", saved)),
                ("conflict", ("u", "escape", "A", "s", "c", "9", "0", saved, changed_elsewhere)),
                ("question", ("exclamation_mark",)),
            ],
        )


async def test_a_matchup(album: Album, workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await show(
            app,
            album,
            [
                ("proposed", (*SCORED, "M", saved)),
                ("decided", ("space", "j", "j", "j", "space", "G", saved)),
                ("line", ("a", *"Docs", "tab", *"none", "tab", *"some", "tab", *"because", saved)),
                ("key-differentiator", ("escape", "g", "j", "j", "enter")),
            ],
        )


async def test_three_submissions(album: Album, workspace: Workspace, tmp_path: Path) -> None:
    app = make_app(make_workspace(tmp_path / "three", THREE), THREE)
    async with running(app) as driver:
        await driver.settle()
        await show(
            driver,
            album,
            [
                ("start", ()),
                ("pane-c", ("C",)),
                ("scoring", ("s", "c", "8", "5", saved)),
                ("differences", ("escape", "c", "d", "a")),
                ("matchup", ("escape", "M", "C", "a", *"Tests", "escape", "B", saved)),
                ("pair", ("tab",)),
                ("copying", ("escape", "escape", "A", "a", "f2", *"why", "escape", "L", "c")),
                (
                    "note-and-finding",
                    ("escape", "B", "right_curly_bracket", "a", "f2", *"why", "escape", "enter"),
                ),
                (
                    "differing-function",
                    ("escape", "escape", "A", "colon", "1", "9", "enter", "d", opened("DiffScreen")),
                ),
            ],
        )


async def test_a_blind_comparison(album: Album, workspace: Workspace) -> None:
    for model in ("alpha", "beta"):
        # sides are drawn: which is A must not show
        (workspace.root / "submissions" / model / "kv" / "kv_cache.py").write_text(
            CODE + "BY = 'Alpha, Beta'\n"
        )
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    options = EngineOptions(command=None)
    app = JudgeApp(workspace, submissions, "anna", options, clock=lambda _: "12:00:00", blind=True)
    scored = ("s", "c", "8", "5", "t", "7", "0", "w", "c", "8", "5", "t", "7", "0", saved)
    async with running(app) as driver:
        await driver.until(lambda: all(pane.settled for pane in driver.compare.panes))
        await show(driver, album, [("begun", ("G",)), ("scored", scored), ("question", ("f9",))])


async def test_what_goes_wrong(album: Album, workspace: Workspace) -> None:
    folder = workspace.root / "submissions"
    async with running(make_app(workspace, engine=DYING)) as app:
        await app.until(lambda: app.compare.checks_pane.failure and not app.compare.runner.active)
        (folder / "alpha" / "kv" / "kv_cache.py").write_bytes(
            b"x = '\xff\xfe'\r\n\x00\x1b[31m\ty = 1\r\n" + "z = '漢字é'\n".encode()
        )
        (folder / "beta" / "kv" / "kv_cache.py").unlink()
        (folder / "beta" / "kv" / "helpers.py").unlink()
        app.compare.parts.watching.disk_changed(
            frozenset(folder / m / "kv" / "kv_cache.py" for m in ("alpha", "beta"))
        )
        await app.until(lambda: not app.compare.panes[1].submission.files)
        await app.until(lambda: app.compare.checks_pane.failure and not app.compare.runner.active)
        await show(app, album, [("no-engine-and-odd-files", ()), ("no-engine-zoomed", ("c", "z"))])


async def test_verdicts_of_every_kind(album: Album, workspace: Workspace, tmp_path: Path) -> None:
    app = make_app(make_workspace(tmp_path / "three", THREE), THREE, VERDICTS)
    async with running(app) as driver:
        await driver.settle()
        await show(driver, album, [("checks", ("c", "z"))])


async def test_checks_that_run(album: Album, workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=HALFWAY)) as app:
        still(app)
        states = app.compare.checks_pane.states
        await app.until(lambda: len(app.compare.session.outcomes) == 4)
        await app.until(lambda: states["beta", "size"].fraction and not app.compare.parts.checks.stale)
        await app.until(lambda: all(pane.settled and pane.view.symbols for pane in app.compare.panes))
        await show(app, album, [("running", ())])


async def test_nothing_to_compare(album: Album, workspace: Workspace) -> None:
    for model in ("alpha", "beta"):
        for file in (workspace.root / "submissions" / model / "kv").iterdir():
            file.unlink()
    async with running(make_app(workspace, engine=None)) as app:
        await show(app, album, [("empty-folders", ())])


@pytest.mark.parametrize("way", ["light", "no-color"])
async def test_other_colours(
    album: Album, workspace: Workspace, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "light":
        configure('theme = "judge-light"\n')
    else:
        monkeypatch.setenv("NO_COLOR", "1")
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("j", "v", "j")
        await album.keep(app, way, ((120, 35),))


async def test_a_small_terminal(album: Album, workspace: Workspace) -> None:
    small = ((40, 12), (20, 6))
    async with running(make_app(workspace), (40, 12)) as app:
        await app.settle()
        for name, keys in (
            ("code", ()),
            ("checks", ("c",)),
            ("evidence", ("enter",)),
            ("note", ("escape", "escape", "a")),
        ):
            await app.press(*keys)
            await album.keep(app, name, small)


async def test_home(album: Album, workspace: Workspace, tmp_path: Path) -> None:
    three = make_workspace(tmp_path / "three", THREE)
    add_tasks(three, ["flash_attention", "flash_attention_bwd", "beam_search"], ("alpha", "gamma"))
    score(three, "alpha", 92)
    score(three, "beta", None)
    score(three, "gamma", 71)
    score(three, "alpha", 80, "beam_search")
    (three.root / "submissions" / "gamma" / "kv" / "kv_cache.py").write_text("x = 2\n")
    (three.root / "rubrics" / "flash_attention.toml").write_text("task = [")
    places = {"alpha": ("kv_cache.py", 11), "beta": ("helpers.py", 0)}
    PastComparisons(three.root, "anna").keep(Past("kv", ("alpha", "beta"), 1.0, places, "alpha"))
    async with running(make_home(three)) as app:
        await ready(app)
        await show(
            app,
            album,
            [
                ("filled", ()),
                ("marked", ("G", "end", "space")),
                ("fault", ("home", "l", "l")),
                ("queue", ("tab",)),
                ("past", ("tab",)),
                ("help", ("question_mark",)),
            ],
        )


async def test_home_without_anything(album: Album, workspace: Workspace, tmp_path: Path) -> None:
    none = make_workspace(tmp_path / "none", ("gone",))
    shutil.rmtree(none.root / "submissions" / "gone")
    async with running(make_home(none)) as app:
        await ready(app)
        await show(app, album, [("empty", ())])
    for model in ("alpha", "beta"):
        score(workspace, model, 80)
    assert load_scorecard(workspace.scorecard_path("kv", "alpha", "anna")).score("tests") == 80
    async with running(make_home(workspace)) as app:
        await ready(app)
        await show(app, album, [("all-judged", ())])
