"""Names that mean something of their own where they stand lead nowhere else."""

from __future__ import annotations

import pytest

from .test_places import found

#: Every name is a constant of it, on the line of its number.
OTHER = "".join(f"{name} = 0\n" for name in "abcdefghijklmnopqrstuvwxyz")


def leads(code: str, line: int, file: str = "main.py") -> str:
    """Names of a line that lead to constants."""
    return "".join(d[0] for d in found({file: code, "other.py": OTHER}, file, line) if d[1] == "constant")


@pytest.mark.parametrize(
    ("code", "line", "names"),
    [
        ("def go(q, k, v):\n    return np.matmul(soft(q), v)\n", 1, ""),
        ("def go(q, v):\n    return v + w\n", 1, "w"),
        ("v = 1\nprint(v, w)\n", 1, "vw"),
        # every kind of parameter, and their line itself
        ("def go(a, b: int, c=1, d: int = 2, *e, f, **g):\n    return a, b, c, d, e, f, g, h\n", 1, "h"),
        ("def go(a, b: int, c=1, d: int = 2, *e, f, **g):\n    pass\n", 0, ""),
        # every kind of local
        ("def go():\n    a = 1\n    b, (c, d) = x\n    return a, b, c, d\n", 3, ""),
        ("def go():\n    for a, b in x:\n        with x as c:\n            print(a, b, c, y)\n", 3, "y"),
        ("def go():\n    if (a := x):\n        b: int = 1\n    return a, b, c\n", 3, "c"),
        ("def go():\n    try:\n        x()\n    except E as e:\n        print(e, f)\n", 4, "f"),
        ("def go():\n    return [a for a, b in c if b] + [b]\n", 1, "cb"),
        ("go = lambda a, *b: a + b[0] + c\n", 0, "c"),
        # of functions around it, but not of those within it or beside it
        ("def go(a):\n    def on(b):\n        return a, b, c\n    return a, b\n", 2, "c"),
        ("def go(a):\n    def on(b):\n        c = 1\n    return a, b, c\n", 3, "bc"),
        ("def go(a):\n    pass\ndef on():\n    return a\n", 3, "a"),
        ("def go():\n    class K:\n        a = 1\n    return a\n", 3, "a"),
        # what a function says is not its own
        ("def go():\n    global a\n    a = a + 1\n", 2, "a"),
        # members, and names of arguments
        ("x.v = f(y=1) + z\n", 0, "xfz"),
        ("import other\nw = other.v + another.u\n", 1, "wv"),
        ("import pkg.other as o\nw = o.v + p.u\n", 1, "wovp"),
    ],
)  # fmt: skip
def test_parameters_locals_and_members_lead_to_no_constant_elsewhere(
    code: str, line: int, names: str
) -> None:
    assert sorted(set(leads(code, line))) == sorted(set(names))


def test_names_of_cuda_and_cpp_functions_are_their_own() -> None:
    header = "".join(f"static const int {name} = 0;\n" for name in "abcdefmnptxyzq")
    code = (
        "int go(int* a, const float& b, int c[4], int d = 3) {\n"
        "  int x = 1, *y, t[3]; auto [m, n] = p;\n"
        "  for (auto z : a) { return a + b + c + d + x + y + t[0] + m + n + z + q; }\n"
        "  auto l = [&](int e) { return e + f; }; s.x = s->y;\n}\n"
    )
    files = {"main.cu": code, "all.cuh": header}
    assert [d[0] for d in found(files, "main.cu", 2)] == ["q"]
    assert [d[0] for d in found(files, "main.cu", 3)] == ["f"]


def test_what_is_assigned_in_a_class_is_a_member_of_it() -> None:
    shape = "class Shape:\n    v = 1\n    w: int\n\n    def area(self):\n        return self.v * self.w\n"
    files = {"shape.py": shape, "other.py": OTHER}
    assert found(files, "shape.py", 5) == [
        ("v", "attribute", "shape.py", 1),
        ("w", "attribute", "shape.py", 2),
    ]


def test_functions_within_functions_and_imports_of_a_function_are_found() -> None:
    code = "def go(x):\n    from helpers import scale\n    def on(y): pass\n    return on(scale(x))\n"
    files = {"main.py": code, "helpers.py": "def scale(x):\n    return x\n"}
    assert [(d[0], d[2], d[3]) for d in found(files, "main.py", 3)] == [
        ("on", "main.py", 2),
        ("scale", "helpers.py", 0),
    ]
