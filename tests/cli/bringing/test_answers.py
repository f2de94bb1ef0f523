"""Chat answers: which fences become which files, and what is said of the rest."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.errors import UsageError
from judge_tui.cli.bringing.answers import ANSWER, from_text
from judge_tui.cli.bringing.brought import Brought
from judge_tui.cli.bringing.fences import fences
from judge_tui.cli.bringing.member_names import why_not

CACHE = "import numpy as np\n\n\nclass Cache:\n    def append(self, x):\n        return x\n"
X1, X2 = "x = 1\n", "x = 2\n"
END = "\n"
RUN, MINE, WRONG = "python x\n", "mine\n", "def wrong(): pass\n"


def brought(text: str, task: str = "kv") -> Brought:
    return from_text(text, task)


def files(text: str, task: str = "kv") -> dict[str, str]:
    """The files but the answer itself."""
    return {name: data.decode() for name, data in brought(text, task).files.items() if name != ANSWER}


def fence(code: str, info: str = "python", mark: str = "```") -> str:
    return f"{mark}{info}\n{code}{mark}\n"


# what a fence is


@pytest.mark.parametrize("mark", ["```", "````", "~~~", "~~~~~"])
def test_a_fence_of_any_kind_and_length_is_one(mark: str) -> None:
    assert files(fence(CACHE, mark=mark)) == {"kv.py": CACHE}


def test_a_fence_in_a_list_or_a_quote_loses_the_indentation_of_it() -> None:
    for lead in ("   ", "> ", "> > ", "\t"):
        inside = "".join(f"{lead}{line}\n" for line in fence(CACHE).splitlines())
        assert files(f"1. First:\n\n{inside}") == {"kv.py": CACHE}, lead
    assert files("- ```python\n  x = 1\n  if x:\n      x = 2\n  ```\n") == {
        "kv.py": "x = 1\nif x:\n    x = 2\n"
    }


def test_code_between_backticks_in_a_line_opens_none() -> None:
    assert fences(["```python x = 1```", "text ``` text", "``x``"]) == ()


def test_an_indented_mark_within_a_fence_does_not_end_it() -> None:
    code = 'def f():\n    """Use:\n\n    ```python\n    f()\n    ```\n    """\n'
    assert files(fence(code)) == {"kv.py": code}


def test_a_fence_within_a_docstring_is_a_part_of_it() -> None:
    code = '"""Use:\n\n```python\nf()\n```\n\n```\nplain\n```\n"""\n\n\ndef f():\n    pass\n'
    assert files(fence(code) + "\nDone.\n") == {"kv.py": code}


def test_a_docstring_that_never_ends_does_not_swallow_the_rest() -> None:
    text = fence('"""Open\n\ndef f():\n    pass\n') + "\n### b.py\n" + fence("x = 1\n")
    assert files(text)["b.py"] == "x = 1\n"


def test_fences_within_markdown_are_a_part_of_it() -> None:
    readme = "# Cache\n\n```bash\npip install .\n```\n\nand\n\n```python\nrun()\n```\n"
    found = files("### README.md\n\n" + fence(readme, "markdown") + "\n" + fence(CACHE))
    assert found == {"README.md": readme, "kv.py": CACHE}


def test_a_fence_that_the_next_one_ends_is_one() -> None:
    assert files("```python a.py\nx = 1\n\n```python b.py\nx = 2\n```\n") == {"a.py": X1, "b.py": X2}


def test_the_last_fence_may_have_been_cut_off_and_is_taken() -> None:
    found = brought("Here:\n\n```python\n" + CACHE)
    assert found.files["kv.py"].decode() == CACHE
    assert "the last fence, of line 3, has no end: the answer may have been cut off." in found.sentences


def test_lines_may_end_as_on_windows() -> None:
    assert files(fence(CACHE).replace("\n", "\r\n")) == {"kv.py": CACHE}


# what a file is called


@pytest.mark.parametrize(
    "info",
    [
        'python title="src/cache.py"',
        "python:src/cache.py",
        "python src/cache.py",
        "python filename=src/cache.py",
        "python {file: 'src/cache.py'}",
        '{.python filename="src/cache.py"}',
        "src/cache.py",
        "py  name='src/cache.py' linenums=1",
        "python (src/cache.py)",
    ],
)
def test_the_info_string_may_name_the_file(info: str) -> None:
    assert files(fence(CACHE, info)) == {"src/cache.py": CACHE}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("# file: cache.py", "cache.py"),
        ("# cache.py", "cache.py"),
        ("# === cache.py ===", "cache.py"),
        ("# filename: src/cache.py", "src/cache.py"),
        ("# cache.py - the cache", "cache.py"),
        ("# cache.py — the cache", "cache.py"),
        ('"""cache.py"""', "cache.py"),
        ('"""cache.py: the cache."""', "cache.py"),
        ("#!/usr/bin/env python3\n# cache.py", "cache.py"),
    ],
)
def test_a_comment_on_a_first_line_may_name_the_file_and_stays(line: str, name: str) -> None:
    assert files(fence(f"{line}\nx = 1\n")) == {name: f"{line}\nx = 1\n"}
    assert files(fence("// kernel.cu\n__global__ void k() {}\n", "cpp")).keys() == {"kernel.cu"}
    assert files(fence("/* kernel.cu */\n__global__ void k() {}\n", "cuda")).keys() == {"kernel.cu"}


@pytest.mark.parametrize(
    "line", ["# cache.py imports this", "# see utils.py", "# https://x.io/a.py", "import a.py"]
)
def test_a_comment_that_speaks_of_a_file_names_none(line: str) -> None:
    assert set(files(fence(f"{line}\n{CACHE}"))) == {"kv.py"}


@pytest.mark.parametrize(
    "line",
    [
        "### kv_cache.py",
        "## 2. `kv_cache.py`",
        "**kv_cache.py**",
        "**`kv_cache.py`**",
        "**`kv_cache.py`:**",
        "`kv_cache.py`",
        "`kv_cache.py`:",
        "File: kv_cache.py",
        "**File:** `kv_cache.py`",
        "1. `kv_cache.py` — the cache",
        "Save this as `kv_cache.py`:",
        "Create a file named kv_cache.py with this content:",
        "Here is the complete `kv_cache.py`:",
        "### Step 1: Create `kv_cache.py`",
        "<summary>kv_cache.py</summary>",
        "#### 📄 kv_cache.py",
        "以下是完整实现（`kv_cache.py`）：",
        "Voici le fichier kv_cache.py :",
    ],
)
def test_the_line_above_may_name_the_file(line: str) -> None:
    assert files(f"Sure.\n\n{line}\n\n{fence(CACHE)}") == {"kv_cache.py": CACHE}


def test_a_heading_names_the_file_over_what_is_said_of_it() -> None:
    text = f"### `kv_cache.py`\n\nIt grows by doubling.\n\n{fence(CACHE)}\n"
    assert files(text) == {"kv_cache.py": CACHE}


@pytest.mark.parametrize(
    "line",
    ["It imports `a.py` and `b.py`:", "This replaces what `old.py` did.", "Run `python demo.py` first."],
)
def test_prose_that_speaks_of_files_names_none(line: str) -> None:
    assert set(files(f"{line}\n\n{fence(CACHE)}")) == {"kv.py"}


def test_a_name_is_no_name_for_what_is_in_another_language() -> None:
    found = brought(f"### kv_cache.py\n\n{fence(CACHE)}\n**Run `kv_cache.py`**\n\n{fence(RUN, 'bash')}")
    assert found.files["kv_cache.py"].decode() == CACHE
    assert "1 fence is no file: line 14 (bash)." in found.sentences


@pytest.mark.parametrize(
    "name", ["../../out.py", "/etc/out.py", "C:/out.py", ".git/hooks/out.py", "submission.toml"]
)
def test_a_name_that_leads_elsewhere_is_none(name: str) -> None:
    for text in (fence(CACHE, f'python title="{name}"'), f"### {name}\n\n{fence(CACHE)}"):
        assert not any(why_not(found) for found in files(text))
        assert set(files(text)) == {"kv.py"}


def test_a_file_that_comes_again_is_taken_as_it_was_last_and_told() -> None:
    found = brought(f"### a.py\n{fence(X1)}\nBetter:\n\n### a.py\n{fence(X2)}")
    assert found.files["a.py"] == b"x = 2\n"
    assert "a.py is there again in line 9, and the last one is taken." in found.sentences


def test_a_part_of_a_file_does_not_stand_for_it() -> None:
    part = "class Cache:\n    # ... existing code ...\n    def clear(self): pass\n"
    found = brought(f"### a.py\n{fence(CACHE)}\nAdd to it:\n\n### a.py\n{fence(part)}")
    assert found.files["a.py"].decode() == CACHE
    assert "1 fence is no file: line 14 (a part of a.py)." in found.sentences


def test_what_only_uses_a_file_does_not_stand_for_it() -> None:
    text = f"### cache.py\n{fence(CACHE)}\n### Running `cache.py`\n{fence('Cache().append(1)' + END)}"
    assert files(text) == {"cache.py": CACHE, "example.py": "Cache().append(1)\n"}


def test_a_file_that_goes_on_in_a_second_fence_is_both() -> None:
    found = brought(f"### a.py\n{fence(CACHE)}\n### a.py (continued)\n{fence(WRONG)}")
    assert found.files["a.py"].decode() == f"{CACHE}\n{WRONG}"
    assert "a.py goes on in line 12." in found.sentences


# fences without names


def test_steps_make_one_file_in_their_order() -> None:
    steps = ["import numpy as np\n", "class Cache:\n    pass\n", "def attend(q):\n    return np.exp(q)\n"]
    found = brought("".join(f"Step {n}:\n\n{fence(step)}\n" for n, step in enumerate(steps)))
    assert found.files["kv.py"].decode() == "\n".join(steps)
    assert "kv.py is made of the fences of lines 3, 9, 16, in their order." in found.sentences


def test_the_whole_stands_for_its_steps_and_that_is_told() -> None:
    steps = ["def f(x):\n    return x\n", "def g(x):\n    return f(x)\n"]
    whole = "import math\n\n\n" + "\n\n".join(steps)
    for text in (
        "".join(map(fence, steps)) + "\nIn full:\n\n" + fence(whole),
        fence(whole) + "\nWhy:\n\n" + "".join(map(fence, steps)),
    ):
        found = brought(text)
        assert found.files["kv.py"].decode() == whole
        assert any("which is the whole" in told for told in found.sentences)


def test_a_revision_stands_for_what_it_has_anew() -> None:
    text = (
        fence("def f(x):\n    return x\n")
        + "\nThat is wrong. Better:\n\n"
        + fence("def f(x):\n    return 2 * x\n")
    )
    assert files(text) == {"kv.py": "def f(x):\n    return 2 * x\n"}


def test_what_only_uses_the_code_is_an_example_beside_it() -> None:
    text = fence(CACHE) + "\nUse it so:\n\n" + fence("cache = Cache()\nprint(cache.append(1))\n")
    assert files(text) == {"kv.py": CACHE, "example.py": "cache = Cache()\nprint(cache.append(1))\n"}
    named = f"### cache.py\n{text}"
    assert set(files(named)) == {"cache.py", "example.py"}


def test_a_method_that_goes_on_with_its_class_is_put_behind_it() -> None:
    method = "    def clear(self):\n        pass\n"
    assert files(fence(CACHE) + "\nAnd:\n\n" + fence(method)) == {"kv.py": f"{CACHE}\n{method}"}
    assert files(fence(CACHE) + fence(X1) + fence(method)) == {"kv.py": f"{CACHE}\n{X1}"}


def test_an_ellipsis_in_code_that_is_nowhere_else_does_not_leave_it_out() -> None:
    kernel, launcher = "__global__ void k() {\n  // ...\n}\n", "void launch() {\n  k<<<1, 1>>>();\n}\n"
    assert files(fence(kernel, "cuda") + fence(launcher, "cuda"), "fuse") == {
        "fuse.cu": f"{kernel}\n{launcher}"
    }


def test_constants_that_are_computed_belong_to_the_code() -> None:
    head = "import numpy as np\n\nRNG = np.random.default_rng(0)\n"
    assert files(fence(head) + fence(CACHE)) == {"kv.py": f"{head}\n{CACHE}"}


def test_a_part_that_is_shown_again_is_left_out() -> None:
    text = fence(CACHE) + "\nNote:\n\n" + fence("    def append(self, x):\n        return x\n")
    assert files(text) == {"kv.py": CACHE}


def test_kernel_and_launcher_make_one_source_whatever_their_language_is_called() -> None:
    kernel, launcher = (
        "__global__ void k(float* x) { x[0] = 1; }\n",
        "void launch(float* x) {\n  k<<<1, 1>>>(x);\n}\n",
    )
    text = fence(kernel, "cuda") + fence(launcher, "cpp") + fence("launch(x);\n", "cpp")
    assert files(text, "fuse") == {"fuse.cu": f"{kernel}\n{launcher}"}


def test_what_is_shown_and_is_no_code_is_left_out_and_told() -> None:
    shown = [
        ("pip install numpy\n", "bash"),
        ("max error 1e-7\n", ""),
        ("-x\n+y\n", "diff"),
        ("{}\n", "json"),
        ("a\n", "text"),
    ]
    found = brought(fence(CACHE) + "".join(fence(*one) for one in shown))
    assert set(found.files) == {"kv.py", ANSWER}
    assert found.sentences[0].startswith(
        "5 fences are no file: line 9 (bash), line 12 (no language), line 15 (diff)"
    )


@pytest.mark.parametrize(
    "head",
    [
        "cat > src/a.py <<'EOF'",
        "cat <<EOF > src/a.py",
        '$ cat >"src/a.py" << "EOF"',
        "cat <<-'EOF' >src/a.py",
    ],
)
def test_a_script_that_writes_files_is_these_files(head: str) -> None:
    found = brought(
        fence(f"mkdir src\n{head}\nx = 1\nEOF\ncat >> src/a.py <<E\ny = 2\nE\npython src/a.py\n", "bash")
    )
    assert found.files["src/a.py"] == b"x = 1\ny = 2\n"
    assert "the script of line 1 writes src/a.py." in found.sentences


@pytest.mark.parametrize("name", ["../a.py", "/app/a.py", "$D/a.py", ".bashrc"])
def test_a_script_that_writes_elsewhere_is_no_file(name: str) -> None:
    found = brought(fence(f"cat > {name} <<EOF\nx = 1\nEOF\n", "bash"))
    assert set(found.files) == {ANSWER}
    assert found.sentences == ("1 fence is no file: line 1 (bash).",)


def test_a_fence_that_says_no_language_is_looked_at() -> None:
    assert set(files(fence(CACHE, ""))) == {"kv.py"}
    assert set(files(fence("#include <cuda_runtime.h>\n__global__ void k() {}\n", ""))) == {"kv.cu"}
    assert set(files(fence(">>> f(1)\n1\n"))) == set()


# the answer itself


def test_the_prose_is_kept_beside_the_code_and_nothing_beside_code_alone() -> None:
    text = f"It holds all keys.\n\n{fence(CACHE)}"
    assert brought(text).files[ANSWER].decode() == text
    assert set(brought(fence(CACHE)).files) == {"kv.py"}
    assert ANSWER in brought(fence(X1, "python a.py") + fence(X2, "python a.py")).files
    assert set(brought(f"### answer.md\n{fence(MINE, 'markdown')}\nProse.").files) == {
        "answer.md",
        "answer_2.md",
    }


def test_code_without_a_fence_is_code_and_prose_is_the_answer() -> None:
    assert set(brought(CACHE).files) == {"kv.py"}
    assert set(brought(CACHE + "def broken(:\n    return (\n").files) == {"kv.py"}
    assert set(brought("#include <x.h>\n__global__ void k() {}\n", "fuse").files) == {"fuse.cu"}
    assert set(brought("I cannot do this: import numpy is not allowed.\n").files) == {ANSWER}
    assert brought(" \n").files == {}
    assert set(brought(CACHE, "HumanEval-12").files) == {"HumanEval_12.py"}


@pytest.mark.parametrize("opened", ["<think>\n", ""])
def test_drafts_of_what_a_model_thought_are_not_the_answer(opened: str) -> None:
    text = f"{opened}Maybe:\n\n{fence(WRONG)}\nNo.\n</think>\n\n{fence(CACHE)}"
    found = brought(text)
    assert found.files["kv.py"].decode() == CACHE
    assert any("what it thought" in told for told in found.sentences)


@pytest.mark.parametrize(
    ("asks", "answers"),
    [
        ("## Prompt:", "## Response:"),
        ("**You:**", "**ChatGPT:**"),
        ("#### You said:", "#### ChatGPT said:"),
        ("User:", "Assistant:"),
        ("### Human", "### Claude 3.5 Sonnet"),
    ],
)
def test_what_was_asked_in_a_chat_is_not_the_answer(asks: str, answers: str) -> None:
    turn = f"{asks}\n\nFix it:\n\n{fence(WRONG)}\n{answers}\n\n{fence(CACHE)}\n"
    found = brought(f"{turn}{asks}\n\nAnd this?\n\n{fence(X1)}\n{answers}\n\nNo.\n")
    assert found.files["kv.py"].decode() == CACHE
    assert "2 fences are no file: line 5 (what was asked)" in found.sentences[0]


def test_a_heading_alone_asks_nothing() -> None:
    assert files(f"## Question\n\n{fence(CACHE)}") == {"kv.py": CACHE}
    assert files(f"You:\n\n{fence(CACHE)}") == {"kv.py": CACHE}


# any text


def test_too_many_fences_are_refused() -> None:
    with pytest.raises(UsageError, match="holds more than 2,000 fences"):
        brought(fence("x = 1\n") * 2_001)


@pytest.mark.parametrize(
    ("head", "piece", "tail"),
    [
        ("", "```\n", ""),
        ("", "```python\nx = 1\n```\n", ""),
        ("", '```python\n"""\n', ""),
        ("", "a", ""),
        ("", "> ", "```"),
        ("", "- ", "```"),
        ("", "x.py/", "\n```python\nx = 1\n```\n"),
        ("```python\n", "def f():\n    pass\n", ""),
        ("", "#", ""),
    ],
    ids=["marks", "fences", "docstrings", "letters", "quotes", "list", "names", "functions", "headings"],
)
def test_ten_megabytes_of_anything_are_read_in_seconds(head: str, piece: str, tail: str) -> None:
    text = head + piece * (10_000_000 // len(piece)) + tail
    started = time.process_time()
    with suppress(UsageError):
        brought(text)
    assert time.process_time() - started < 8


_PIECES = st.sampled_from(
    [
        "```",
        "~~~",
        "````",
        "python",
        " title='a.py'",
        "\n",
        "\n",
        "\n",
        "x = 1",
        '"""',
        "> ",
        "- ",
        "    ",
        "### b.py",
        "…",
    ]
)


@given(st.lists(_PIECES, max_size=60))
def test_no_line_of_any_text_is_in_two_fences_and_each_file_lies_inside(pieces: list[str]) -> None:
    text = "".join(pieces)
    at = -1
    for one in fences(text.split("\n")):
        assert at < one.first <= one.last
        at = one.last if one.closed else one.last - 1
    assert not any(map(why_not, brought(text).files))
