from __future__ import annotations

import pytest
from textual.theme import Theme

from judge_tui.tui.code.grammars import STYLES, load
from judge_tui.tui.code.highlight import read
from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import enclosing, kinds
from judge_tui.tui.code.syntax_styles import syntax_styles
from judge_tui.tui.look.palette import THEMES, themes_for
from judge_tui.tui.look.tones import tones_under


def names(name: str, text: str, line: int = 0) -> list[str]:
    """Style of each character of a line."""
    highlight = read(name, Source(text.encode("utf-8", "surrogateescape")))
    styles = highlight.highlighter.styles(line) if highlight.highlighter else None
    return [STYLES[code] for code in styles or b""]


@pytest.mark.parametrize("grammar", ["python", "c", "cpp", "cuda"])
def test_each_grammar_takes_its_query(grammar: str) -> None:
    load(grammar)


def test_python_is_coloured_by_its_syntax() -> None:
    styles = names("a.py", "def f(x): return 'a'  # c")
    assert styles[0] == "keyword"
    assert styles[4] == "function"
    assert styles[17] == "string"
    assert styles[-1] == "comment"


def test_columns_are_right_behind_wide_characters_and_wrong_bytes() -> None:
    styles = names("a.py", "x = '漢é' + f(1)  \udcff# c")
    assert styles[4:8] == ["string"] * 4
    assert styles[11] == "call"
    assert styles[13] == "number"


def test_cuda_kernels_are_coloured_and_in_the_outline() -> None:
    text = (
        "template <int K> __global__ void kern(float* x) {\n  x[threadIdx.x] = 1;\n}\nstruct S { int a; };\n"
    )
    highlight = read("a.cu", Source(text.encode()))
    assert [(s.name, s.kind, s.line) for s in highlight.symbols] == [
        ("kern", "function", 0),
        ("S", "class", 3),
    ]
    assert names("a.cu", text)[17] == "decorator"


def test_the_outline_nests_methods_in_classes() -> None:
    highlight = read("a.py", Source(b"class A:\n    @dec\n    def f(self):\n        def g(): pass\n"))
    assert [(s.name, s.depth) for s in highlight.symbols] == [("A", 0), ("f", 1), ("g", 2)]


NESTED = (
    "import a\n\nclass A:\n    def f(self):\n        def g(): pass\n        return g\n\n    x = 1\n\ny = 2\n"
)
BRACED = (
    "struct A {\n  int f();\n}; struct B { int g(); int h() {\n  return 2; } }; void i() {}\nvoid j() {}\n"
)


@pytest.mark.parametrize(("name", "text"), [("a.py", NESTED * 3), ("a.cpp", BRACED)])
def test_the_definitions_round_a_line_are_those_that_hold_it(name: str, text: str) -> None:
    symbols = read(name, Source(text.encode())).symbols
    assert len(symbols) > 3
    for line in range(text.count("\n") + 1):
        holding = [n for n, symbol in enumerate(symbols) if symbol.line <= line <= symbol.end]
        assert list(enclosing(symbols, line)) == holding[::-1]


METHODS = {"A": "class", "f": "method", "g": "function"}
KINDS = {"A": "class", "B": "class", "h": "method", "i": "function", "j": "function"}


@pytest.mark.parametrize(
    ("name", "text", "told"), [("a.py", NESTED, METHODS), ("a.cpp", BRACED, KINDS)], ids=["python", "c++"]
)
def test_a_function_of_a_class_is_called_a_method(name: str, text: str, told: dict[str, str]) -> None:
    symbols = read(name, Source(text.encode())).symbols
    assert {symbol.name: kind for symbol, kind in zip(symbols, kinds(symbols), strict=True)} == told


def test_other_languages_are_lexed_by_pygments() -> None:
    assert names("notes.toml", '[a]\nb = "c"\n', 1)[-1] == "string"


def test_a_file_of_no_language_is_plain() -> None:
    assert read("noext", Source(b"hello")).highlighter is None


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", "try:\n import t\nexcept ImportError:\n def a(): pass\nfinally:\n def b(): pass\n", "a b"),
        ("a.py", "if x:\n def a(): pass\nelif y:\n def b(): pass\nelse:\n def c(): pass\n", "a b c"),
        ("a.py", "with x:\n def a(): pass\nfor i in y:\n def b(): pass\nwhile z:\n def c(): pass\n", "a b c"),
        ("a.py", "match x:\n case 1:\n  def a(): pass\n", "a"),
        ("a.cpp", "#if A\nint a() {}\n#elif B\nint b() {}\n#else\nint c() {}\n#endif\n", "a b c"),
        ("a.cpp", "union U { int x; int get() { return x; } };\n", "U get"),
        ("a.cpp", "struct A { float operator()(int i) { return 0; } };\nint A::operator[](int i) { }\n",
         "A operator() A::operator[]"),
    ],
)  # fmt: skip
def test_the_outline_has_what_is_defined_in_a_branch(name: str, text: str, found: str) -> None:
    assert " ".join(symbol.name for symbol in read(name, Source(text.encode())).symbols) == found


def test_two_hundred_levels_of_nesting_and_broken_code_are_read() -> None:
    deep = "".join("    " * n + f"def f{n}():\n" for n in range(200)) + "    " * 200 + "pass\n"
    assert len(read("a.py", Source(deep.encode())).symbols) == 200
    assert read("a.py", Source(b"def (((\n class :\n" * 50)).highlighter is not None
    assert read("a.py", Source(b"(" * 50_000)).highlighter is not None


def test_a_giant_line_is_left_plain_and_its_neighbours_are_coloured() -> None:
    text = "def f(): pass\nx = '" + "a" * 100_000 + "'\ndef g(): pass\n"
    assert names("a.py", text, 0)[0] == "keyword"
    assert names("a.py", text, 1) == []
    assert names("a.py", text, 2)[0] == "keyword"


@pytest.mark.parametrize("theme", [*THEMES, *themes_for("standard")], ids=lambda theme: str(theme.primary))
def test_every_style_has_its_place(theme: Theme) -> None:
    tones = tones_under(theme.to_color_system().generate(), dark=theme.dark)
    assert len(syntax_styles(tones)) == len(STYLES)
