"""Of a workspace, a command reads each scorecard once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.cli.home import print_matrix
from judge_tui.judging import scorecard
from judge_tui.judging.export import BEGIN, END
from judge_tui.judging.publishing import publish
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.summaries.asked import SHAPES, Asked, report_of
from judge_tui.judging.workspace import Workspace

ROOT = Path(__file__).parents[2]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How often each scorecard was parsed."""
    counted: Counter[Path] = Counter()
    parse = scorecard.parse_scorecard

    def parsed(data: bytes, file: Path, *, newer: bool = False) -> object:
        counted[file] += 1
        return parse(data, file, newer=newer)

    monkeypatch.setattr(scorecard, "parse_scorecard", parsed)
    return counted


def _export(workspace: Workspace, folder: Path) -> None:
    readme = folder / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    publish(readme, workspace)


@pytest.mark.parametrize(
    "command",
    [
        lambda workspace, folder: print_matrix(workspace),
        _export,
        *(
            lambda workspace, folder, shape=shape: report_of(workspace, Asked(shape, published=True))
            for shape in SHAPES
            if shape not in ("metrics", "two-way")
        ),
    ],
    ids=["home", "export", *(shape for shape in SHAPES if shape not in ("metrics", "two-way"))],
)
def test_a_command_reads_each_card_once(
    command: Callable[[Workspace, Path], object], reads: Counter[Path], tmp_path: Path
) -> None:
    command(Workspace.at(ROOT), tmp_path)
    assert len(reads) >= 19
    assert set(reads.values()) == {1}


def test_what_is_wrong_with_a_card_is_told_every_time(tmp_path: Path) -> None:
    card = tmp_path / "scores" / "kv" / "glm5" / "anna.toml"
    card.parent.mkdir(parents=True)
    card.write_text("score = ")
    once = ReadOnce.of(Workspace.at(tmp_path))
    told: list[dict[tuple[str, str], str]] = [{}, {}]
    for faults in told:
        assert once.scorecards("kv", faults) == ()
        with pytest.raises(WorkspaceError, match=r"anna\.toml:1"):
            once.scorecards("kv")
    assert told[0] == told[1] != {}


def test_another_command_sees_what_has_changed(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path)
    (tmp_path / "submissions" / "glm5" / "kv").mkdir(parents=True)
    once = ReadOnce.of(workspace)
    assert once.models() == ReadOnce.of(once).models() == ("glm5",)
    (tmp_path / "submissions" / "qwen36" / "kv").mkdir(parents=True)
    assert once.models() == ("glm5",)
    assert ReadOnce.of(workspace).models() == ("glm5", "qwen36")
