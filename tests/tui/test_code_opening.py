"""A file opens at its first definition, or where the other pane is; stored places and the reader win."""

from __future__ import annotations

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.past import Past, PastComparisons

from .at_home import make_home, ready
from .conftest import Driver, make_app, running
from .test_code import write

HEAD = '"""What a cache is.\n' + "\nA long story.\n" * 40 + '"""\n\nimport numpy\n\n\n'
PYTHON = HEAD + "# the cache\n@frozen\nclass Cache:\n    def update(self):\n        return 1\n\n\n"
PYTHON += "def attend(query):\n    return query\n\n\n" + "def more():\n    return 2\n\n\n" * 30


def top(app: Driver, pane: int = 0) -> str:
    """The line at the top of a pane, and that of the cursor."""
    view = app.compare.panes[pane].view
    return f"{view.source.lines[view.scroll_offset.y]}|{view.source.lines[view.cursor]}"


async def settled(app: Driver) -> None:
    await app.until(lambda: all(pane.settled and pane.view.symbols for pane in app.compare.panes))


async def test_code_opens_at_its_first_definition_with_what_is_said_above_it(workspace: Workspace) -> None:
    write(workspace, PYTHON)
    async with running(make_app(workspace, engine=None), (120, 35)) as app:
        await settled(app)
        assert top(app) == "|class Cache:"
        # what the first page shows is read from its beginning
        assert top(app, 1) == '"""A cache."""|"""A cache."""'
        await app.press("g")
        assert app.compare.panes[0].view.cursor == 0


async def test_a_definition_that_only_a_grammar_finds_is_gone_to_once_it_is_known(
    workspace: Workspace,
) -> None:
    folder = workspace.root / "submissions" / "alpha" / "kv"
    (folder / "kv_cache.py").unlink()
    code = "#include <x>\n" * 60 + "\n// the cache\nstruct Cache {\n  int size;\n};\n" + "int a;\n" * 99
    (folder / "kv_cache.cu").write_text(code)
    async with running(make_app(workspace, engine=None), (120, 35)) as app:
        await settled(app)
        await app.until(lambda: top(app) == "|struct Cache {")


async def test_who_has_moved_meanwhile_stays(workspace: Workspace) -> None:
    write(workspace, PYTHON)
    async with running(make_app(workspace, engine=None), (120, 35)) as app:
        await settled(app)
        pane = app.compare.panes[0]
        await app.press("j")
        before = pane.view.cursor, pane.view.scroll_offset.y
        assert not pane.opening.untouched
        pane.opening.again()
        assert (pane.view.cursor, pane.view.scroll_offset.y) == before


async def test_a_file_opens_at_the_definition_that_another_pane_shows(workspace: Workspace) -> None:
    write(workspace, PYTHON)
    other = HEAD + "x = 1\n" * 90 + "def more():\n    return 2\n\n\n" * 30
    other += "def attend(query):\n    return query\n" + "y = 1\n" * 90
    (workspace.root / "submissions" / "beta" / "kv" / "other.py").write_text(other)
    async with running(make_app(workspace, engine=None), (120, 35)) as app:
        await settled(app)
        left, right = (pane.view for pane in app.compare.panes)
        line = PYTHON[: PYTHON.index("def attend")].count("\n")
        left.go(line + 1, centre=True)
        app.compare.panes[1].open("other.py")
        await app.until(lambda: "    return query" in top(app, 1))
        assert left.cursor - left.scroll_offset.y == right.cursor - right.scroll_offset.y
        # where it was read last wins over where the other pane is
        right.go(3, centre=True)
        app.compare.panes[1].open("helpers.py")
        app.compare.panes[1].open("other.py")
        await settled(app)
        assert right.cursor == 3


async def test_a_comparison_that_was_left_goes_on_where_it_was_even_at_the_first_line(
    workspace: Workspace,
) -> None:
    write(workspace, PYTHON)
    places = {"alpha": ("kv_cache.py", 0), "beta": ("helpers.py", 0)}
    PastComparisons(workspace.root, "anna").keep(Past("kv", ("alpha", "beta"), 1.0, places, "alpha"))
    async with running(make_home(workspace)) as app:
        await ready(app)
        app.app.post_message(app.app.home.Asked("kv", ("alpha", "beta")))  # type: ignore[union-attr]
        await app.until(lambda: app.app.compare is not None and app.compare.is_mounted)
        await settled(app)
        await app.until(lambda: app.compare.panes[1].file == "helpers.py")
        assert (app.compare.panes[0].view.cursor, app.compare.panes[0].view.scroll_offset.y) == (0, 0)
