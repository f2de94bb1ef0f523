from __future__ import annotations

import subprocess
import sys

import pytest

COMPARE = "import judge_tui.tui.app, judge_tui.tui.screens.compare"
HOME = "import judge_tui.tui.app, judge_tui.tui.screens.home"
#: What a screen needs later, if at all: far more than it is worth, each costs a good part of a millisecond.
LATER = (
    "numpy",
    "pygments",
    "tree_sitter",
    "click",
    "importlib.metadata",
    "importlib.resources",
    "textual.widgets._text_area",
    "judge_tui.checks.engine",
    "judge_tui.judging.challenges.outline",
    "judge_tui.judging.challenges.packages",
    "judge_tui.judging.challenges.settings",
    "judge_tui.judging.hiding.mask",
    "judge_tui.judging.merging",
    "judge_tui.tui.code.definitions",
    "judge_tui.tui.code.line_diff",
    "tomlkit",
)
#: In a tree of today that is 188 and 123; a screen that came to need many more would start later.
MOST_OF_COMPARE, MOST_OF_HOME = 194, 128


def told(statement: str, asked: str) -> set[str]:
    """The lines that are printed of a fresh interpreter once a statement has run in it."""
    program = f"{statement}\nimport dataclasses, sys\nprint('\\n'.join({asked}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def modules_after(statement: str) -> set[str]:
    """Modules that are loaded once a statement has run in a fresh interpreter."""
    return told(statement, "sys.modules")


def dataclasses_after(statement: str) -> set[str]:
    """Our dataclasses that are defined once a statement has run in a fresh interpreter."""
    own = "(m for n, m in list(sys.modules.items()) if n.startswith('judge_tui.'))"
    kinds = f"(kind for m in {own} for kind in vars(m).values() if isinstance(kind, type))"
    meant = "dataclasses.is_dataclass(k) and k.__module__.startswith('judge_tui.')"
    return told(statement, f"k.__name__ for k in {kinds} if {meant}")


def ours(loaded: set[str]) -> list[str]:
    return sorted(name for name in loaded if name.startswith("judge_tui."))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return modules_after(COMPARE)


@pytest.fixture(scope="module")
def loaded_by_home() -> set[str]:
    return modules_after(HOME)


@pytest.mark.parametrize("heavy", LATER)
def test_the_first_frame_waits_for_nothing_heavy(loaded: set[str], heavy: str) -> None:
    assert heavy not in loaded


@pytest.mark.parametrize(
    "heavy",
    [*LATER, "judge_tui.tui.screens.compare", "judge_tui.tui.session", "judge_tui.tui.widgets.code_view"],
)
def test_home_waits_neither_for_what_is_heavy_nor_for_the_comparison(
    loaded_by_home: set[str], heavy: str
) -> None:
    assert heavy not in loaded_by_home


def test_a_screen_needs_few_modules(loaded: set[str], loaded_by_home: set[str]) -> None:
    assert len(ours(loaded)) <= MOST_OF_COMPARE, ours(loaded)
    assert len(ours(loaded_by_home)) <= MOST_OF_HOME, ours(loaded_by_home)


@pytest.mark.parametrize(
    ("statement", "known"),
    [
        # two of which some fields do not count when they are compared
        (COMPARE, {"Submission", "SubmissionMeta"}),
        (HOME, {"Submission", "SubmissionMeta", "Pair"}),
    ],
)
def test_values_on_the_way_to_the_first_frame_are_structs(statement: str, known: set[str]) -> None:
    """A dataclass costs half a millisecond to define, a Struct a twentieth of that."""
    assert dataclasses_after(statement) == known


def test_sources_session_and_layout_need_no_screen() -> None:
    loaded = modules_after(
        "import judge_tui.tui.code.source, judge_tui.tui.session, judge_tui.tui.look.layout"
    )
    assert not [name for name in loaded if name.startswith("textual")]
