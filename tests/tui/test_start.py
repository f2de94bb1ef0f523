from __future__ import annotations

import subprocess
import sys

import pytest


def modules_after(statement: str) -> set[str]:
    """Modules that are loaded once a statement has run in a fresh interpreter."""
    program = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return modules_after("import judge_tui.tui.app, judge_tui.tui.screens.compare")


@pytest.mark.parametrize(
    "heavy",
    [
        "numpy",
        "pygments",
        "tree_sitter",
        "click",
        "textual.widgets._text_area",
        "judge_tui.checks.engine",
        "tomlkit",
    ],
)
def test_the_first_frame_waits_for_nothing_heavy(loaded: set[str], heavy: str) -> None:
    assert heavy not in loaded


def test_sources_session_and_layout_need_no_screen() -> None:
    loaded = modules_after(
        "import judge_tui.tui.code.source, judge_tui.tui.session, judge_tui.tui.look.layout"
    )
    assert not [name for name in loaded if name.startswith("textual")]
