"""Notebooks: what of their cells is code, in which file, and what is commented out."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.errors import UsageError
from judge_tui.cli.bringing.brought import Brought
from judge_tui.cli.bringing.member_names import why_not
from judge_tui.cli.bringing.notebooks import from_notebook


def notebook(*cells: Any, **metadata: Any) -> bytes:
    made = [
        cell if isinstance(cell, dict) else {"cell_type": "code", "source": cell, "outputs": [{"data": "x"}]}
        for cell in cells
    ]
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": made}).encode()


def brought(*cells: Any, task: str = "kv", **metadata: Any) -> Brought:
    return from_notebook(notebook(*cells, **metadata), task)


def text(*cells: Any) -> str:
    return brought(*cells).files["kv.py"].decode()


def test_cells_of_code_make_one_script_with_marks() -> None:
    markdown = {"cell_type": "markdown", "source": ["# Cache\n", "\n", "It grows."]}
    found = brought(
        "import numpy as np", markdown, ["x = 1\n", "y = 2"], "", {"cell_type": "raw", "source": "raw"}
    )
    assert found.files["kv.py"].decode() == (
        "# %%\nimport numpy as np\n\n# %% [markdown]\n# # Cache\n#\n# It grows.\n\n# %%\nx = 1\ny = 2\n\n"
        "# %% [markdown]\n# raw\n"
    )
    assert found.sentences == ()


def test_a_notebook_of_version_3_is_read_too() -> None:
    cells = [{"cell_type": "code", "input": ["x = 1\n"], "language": "python"}]
    old = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    assert from_notebook(json.dumps(old).encode(), "kv").files == {"kv.py": b"# %%\nx = 1\n"}


def test_what_only_a_notebook_understands_is_commented_out_and_told() -> None:
    found = brought(
        "%matplotlib inline\n!pip install x \\\n  y\nx = 1", "x?", "files = !ls\nn = %time f()", "?x\nx"
    )
    code = found.files["kv.py"].decode()
    assert [ast.unparse(node) for node in ast.parse(code).body] == ["x = 1", "x"]
    assert found.sentences[0].startswith(
        "6 lines for the notebook alone are commented out: %matplotlib inline, !pip"
    )


def test_a_block_whose_only_line_is_commented_out_is_no_syntax_error() -> None:
    code = text("if x:\n    !pip install y\nelse:\n    %cd z\nz = 1")
    assert ast.unparse(ast.parse(code)) == "if x:\n    pass\nelse:\n    pass\nz = 1"


@pytest.mark.parametrize("code", ["x = (7\n% 2)", 's = """\n%d\n!x\n"""', "x = a != b"])
def test_python_that_looks_like_a_magic_stays(code: str) -> None:
    assert text(code) == f"# %%\n{code}\n"


@pytest.mark.parametrize("magic", ["%%time", "%%timeit -n 1", "%%capture out", "%%python3"])
def test_the_cell_of_a_magic_that_runs_python_is_code(magic: str) -> None:
    assert text(f"{magic}\nx = 1") == f"# %%\n# {magic}\nx = 1\n"


def test_a_cell_that_writes_a_file_is_that_file() -> None:
    found = brought(
        "%%writefile src/cache.py\nclass Cache:\n    pass\n", "%%file b.py\nx = 1",
        "%%writefile -a b.py\ny = 2",
        "from src.cache import Cache",
    )  # fmt: skip
    assert found.files == {
        "src/cache.py": b"class Cache:\n    pass\n",
        "b.py": b"x = 1\ny = 2\n",
        "kv.py": b"# %%\nfrom src.cache import Cache\n",
    }


def test_a_file_that_a_cell_writes_keeps_its_name_before_the_script() -> None:
    assert set(brought("%%writefile kv.py\nx = 1", "import kv").files) == {"kv.py", "kv_2.py"}


@pytest.mark.parametrize("name", ["../out.py", "/etc/out.py", "", "'a\\b.py'", ".bashrc", "submission.toml"])
def test_a_cell_that_writes_elsewhere_is_left_out_and_told(name: str) -> None:
    found = brought(f"%%writefile {name}\nx = 1", "y = 1")
    assert not any(map(why_not, found.files))
    assert set(found.files) == {"kv.py"}
    assert "1 cell left out: cell 1 (" in found.sentences[0]


def test_cells_of_cuda_make_one_source() -> None:
    found = brought(
        "%load_ext nvcc4jupyter", "%%cuda\n__global__ void k() {}", "%%cu\nint main() {}", task="fuse"
    )
    assert found.files["fuse.cu"] == b"__global__ void k() {}\nint main() {}\n"
    named = brought('%%cuda_group_save -n "k.cu" -g g\n__global__ void k() {}', task="fuse")
    assert named.files == {"k.cu": b"__global__ void k() {}\n"}


def test_cells_in_another_language_are_commented_out_and_told() -> None:
    found = brought("%%bash\npip install x", "%%html\n<b>", "x = 1")
    assert ast.unparse(ast.parse(found.files["kv.py"])) == "x = 1"
    assert "2 cells left out: cell 1 (%%bash), cell 2 (%%html)." in found.sentences


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"kernelspec": {"language": "julia"}}, "kv.jl"),
        ({"language_info": {"name": "rust"}}, "kv.rs"),
        ({"language_info": {"name": "odd", "file_extension": ".odd"}}, "kv.odd"),
        ({"kernelspec": {"name": "python3"}}, "kv.py"),
        ({"language_info": {"file_extension": "/../x"}}, "kv.py"),
        ({}, "kv.py"),
    ],
)
def test_a_kernel_of_another_language_keeps_how_its_files_end(metadata: Any, name: str) -> None:
    assert set(brought("x", **metadata).files) == {name}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is no notebook"),
        (b"[]", "is no notebook"),
        (b"{", "is no notebook"),
        (b"\xff\xfe{", "is no notebook"),
        (b'{"cells": 3}', "is no notebook"),
        (b'{"cells": [3]}', "is no notebook"),
        (b'{"cells": [{"source": 3}]}', "is no notebook"),
        (b'{"nbformat": "x"}', "is no notebook"),
        (b'{"cells": ' * 5_000, "is no notebook"),
        (b'{"x": ' + b"[" * 100_000, "is no notebook"),
        (b"{}", "without a cell of code"),
        (b'{"nbformat": 4, "cells": []}', "without a cell of code"),
        (notebook({"cell_type": "markdown", "source": "x"}), "without a cell of code"),
        (notebook("", " \n"), "without a cell of code"),
    ],
    ids=range(14),
)
def test_what_is_no_notebook_or_has_no_code_is_one_sentence(data: bytes, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        from_notebook(data, "kv")


_LINES = st.sampled_from(
    ["%%time", "%%writefile ../a", "%%cu", "%x", "!y \\", "x?", "if x:", "    !z", "x = 1", '"""']
)


@given(st.lists(st.lists(_LINES, max_size=6).map("\n".join), min_size=1, max_size=5))
def test_no_cell_is_too_odd(cells: list[str]) -> None:
    assert not any(map(why_not, brought(*cells, "x = 1").files))
