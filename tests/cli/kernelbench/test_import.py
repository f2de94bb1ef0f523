"""challenge import kernelbench: a file, a folder of them, and what is no problem."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from judge_tui.cli.importing import kernelbench as importing
from judge_tui.cli.importing.trial import Trial
from judge_tui.judging.challenges.outline import statement

Cli = Callable[..., tuple[Any, ...]]
HERE = Path(__file__).parent / "problems"
TEXT = """
import torch
import torch.nn as nn

class Model(nn.Module):
    '''Adds a bias to "x".'''
    def __init__(self, width: int, scale=1.0):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return x + self.bias

batch_size = 4096
width = 8192

def get_inputs():
    return [torch.rand(batch_size, width)]

def get_init_inputs():
    return [width]
"""


@pytest.fixture
def cli(cli: Callable[..., Any]) -> Cli:
    """Runs a command line in this process, and gives its exit status, output and errors."""
    return lambda *arguments: astuple(cli(*arguments))


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No jail is started: what is tried there is judged by other tests."""
    monkeypatch.setattr(importing, "tried", lambda files, sizes: Trial(untried="it needs torch"))


def test_a_file_becomes_a_challenge_and_stays_as_it_is(cli: Cli, root: Path) -> None:
    source = HERE / "1_Scaled_rows.py"
    code, out, err = cli("challenge", "import", "kernelbench", source)
    assert code == 0, err
    made = root / "challenges" / "1_scaled_rows"
    assert sorted(file.name for file in made.iterdir()) == [
        "1_Scaled_rows.py",
        "challenge.md",
        "challenge.py",
    ]
    assert (made / source.name).read_bytes() == source.read_bytes()
    assert "features 16384 → " in out
    text = statement(root, "1_scaled_rows")
    assert text.startswith("# Scaled rows\n\nRows scaled to unit mean square")
    assert "`class ModelNew` with `__init__(self, features, eps)` and `forward(self, x)`" in text


@pytest.mark.usefixtures("untried")
def test_a_problem_of_torch_is_written_where_torch_is_not(cli: Cli, root: Path, tmp_path: Path) -> None:
    source = tmp_path / "7_Bias.py"
    source.write_text(TEXT)
    code, out, _err = cli("challenge", "import", "kernelbench", source, "--as", "bias")
    assert (code, "it could not be tried: it needs torch." in out) == (0, True)
    written = (root / "challenges" / "bias" / "challenge.py").read_text()
    names = {
        node.targets[0].id: ast.unparse(node.value)
        for node in ast.parse(written).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert (names["FRAMEWORKS"], names["DTYPES"]) == ("['torch', 'triton', 'cupy']", "['float32']")
    assert (names["FORWARD"], names["INIT"]) == ("['x']", "['width', 'scale']")
    assert names["BENCH"].endswith("dict(batch_size=4096, width=8192)]")
    assert "import torch\n" in written


@pytest.mark.usefixtures("untried")
def test_a_folder_is_imported_file_by_file_and_one_keeps_no_other_back(
    cli: Cli, root: Path, tmp_path: Path
) -> None:
    for name, text in (
        ("10_b.py", TEXT),
        ("2_a.py", TEXT),
        ("3_none.py", "x = 1\n"),
        ("4_off.py", "def (:\n"),
    ):
        (tmp_path / "level" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "level" / name).write_text(text)
    code, out, err = cli("challenge", "import", "kernelbench", tmp_path / "level")
    assert (code, "2 challenges imported, 2 not." in out) == (2, True)
    assert out.index("challenges/2_a") < out.index("challenges/10_b")
    assert "3_none.py: is no problem of KernelBench: it has no class Model with forward" in err
    assert "4_off.py:1: does not parse" in err
    code, out, err = cli("challenge", "import", "kernelbench", tmp_path / "level")
    assert (code, err.count("nothing is overwritten")) == (2, 2)


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def get_inputs", "def inputs", "has no get_inputs"),
        ("class Model", "class Net", "has no class Model with forward"),
        ("forward(self, x)", "forward(self, *x)", "'forward' takes *x, which names nothing"),
        ("forward(self, x)", "forward(self, width)", "forward and the constructor both take 'width'"),
    ],
)
def test_what_is_no_problem_is_told_in_a_sentence(
    cli: Cli, root: Path, tmp_path: Path, old: str, new: str, told: str
) -> None:
    source = tmp_path / "p.py"
    source.write_text(TEXT.replace(old, new))
    code, _out, err = cli("challenge", "import", "kernelbench", source)
    assert (code, told in err, str(source) in err) == (2, True, True), err
    assert not (root / "challenges").exists()


@pytest.mark.usefixtures("untried")
def test_a_file_that_has_the_challenges_own_name_makes_room(cli: Cli, root: Path, tmp_path: Path) -> None:
    source = tmp_path / "challenge.py"
    source.write_text(TEXT)
    assert cli("challenge", "import", "kernelbench", source, "--as", "p")[0] == 0
    assert (root / "challenges" / "p" / "published.py").read_text() == TEXT


def test_sizes_that_the_reference_refuses_are_left_out(cli: Cli, root: Path, tmp_path: Path) -> None:
    text = (HERE / "1_Scaled_rows.py").read_text()
    text = text.replace(
        "        return x", "        if len(x) < 64:\n            raise ValueError('few')\n        return x"
    )
    source = tmp_path / "p.py"
    source.write_text(text)
    assert cli("challenge", "import", "kernelbench", source)[0] == 0
    cases = ast.parse((root / "challenges" / "p" / "challenge.py").read_text())
    listed = next(
        n.value for n in cases.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "CASES"
    )
    assert isinstance(listed, ast.List)
    rows = [ast.literal_eval(each.keywords[0].value) for each in listed.elts if isinstance(each, ast.Call)]
    assert rows
    assert min(rows) >= 64


def test_a_reference_that_never_answers_is_told(cli: Cli, root: Path, tmp_path: Path) -> None:
    source = tmp_path / "p.py"
    source.write_text((HERE / "6_Index_of_the_largest.py").read_text().replace("np.argmax(x", "np.argmost(x"))
    code, out, _err = cli("challenge", "import", "kernelbench", source)
    assert code == 0
    assert "its reference does not answer" in out
    assert "argmost" in out
