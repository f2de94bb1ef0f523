"""``report --assets``: plots as files beside a Markdown document, and one sentence where they cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.cli.run import run
from tests.reports.judged import judged_workspace


@pytest.fixture(scope="module")
def judged_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_TUI_CACHE", str(tmp_path_factory.mktemp("cache")))
        return judged_workspace(tmp_path_factory.mktemp("judged") / "ws").root


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _report(root: Path, *arguments: str) -> int:
    return run(["report", "head-to-head", "--workspace", str(root), *arguments])


def test_plots_become_files_that_the_document_shows(
    judged_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("-o", "docs/r.md", "--assets", "pictures")
    assert _report(judged_root, *asked) == 0
    assert capsys.readouterr().out == "pictures/r-kv-scores.svg: is written.\ndocs/r.md: is written.\n"
    assert "](../pictures/r-kv-scores.svg)" in Path("docs/r.md").read_text()
    assert Path("pictures/r-kv-scores.svg").read_text().startswith("<svg ")
    assert [path.name for path in Path("pictures").iterdir()] == ["r-kv-scores.svg"]


def test_a_stale_picture_is_told_and_nothing_is_written(
    judged_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("-o", "r.md", "--assets", "pictures")
    assert _report(judged_root, *asked, "--check") == 1
    assert not Path("pictures").exists()
    assert _report(judged_root, *asked) == 0
    assert _report(judged_root, *asked, "--check") == 0
    picture = Path("pictures/r-kv-scores.svg")
    picture.write_text("another")
    capsys.readouterr()
    assert _report(judged_root, *asked, "--check") == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("r.md: is up to date.\n", "pictures/r-kv-scores.svg: is stale.\n")
    assert picture.read_text() == "another"


@pytest.mark.parametrize("rest", [("-o", "r.html"), ("-o", "r.json"), ("--format", "html", "-o", "r.md"), ()])
def test_what_is_no_markdown_file_has_no_assets(
    judged_root: Path, rest: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _report(judged_root, *rest, "--assets", "pictures") == 2
    assert "--assets is for a Markdown file" in capsys.readouterr().err
    assert not Path("pictures").exists()
