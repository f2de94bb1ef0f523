"""That a module is missing counts where a submission imports it and no jail shows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge_tui.checks.missing import lacking, lacking_framework
from judge_tui.checks.submission import Submission

Submit = Callable[..., Submission]

_NOWHERE = "a_framework_that_is_nowhere"
_SAID = f"No module named '{_NOWHERE}'"
_GUARDED = f"try:\n    import {_NOWHERE}.nn as nn\nexcept ImportError:\n    nn = None\n"


@pytest.mark.parametrize(
    "source",
    [
        f"import numpy, {_NOWHERE}",
        _GUARDED,
        f"def f():\n    from {_NOWHERE}.nn import functional",
        f"import importlib\nm = importlib.import_module('{_NOWHERE}')",
    ],
)
def test_what_a_file_imports_and_nobody_has_is_missing(submitted: Submit, source: str) -> None:
    found = lacking(submitted({"answer.py": source}), f"{_SAID}.nn")
    assert found is not None
    assert found.message == f"needs {_NOWHERE}, which is not installed here → pip install {_NOWHERE}"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (f"raise ModuleNotFoundError({_SAID!r})", _SAID),
        (f"if False:\n    import {_NOWHERE}", _SAID),
        (f"import {_NOWHERE}_of_others", _SAID),
        ("import numpy", "No module named 'numpy'"),
        ("import json.nothing", "No module named 'json.nothing'"),
        (_GUARDED, "nothing of the kind"),
        (f"{_GUARDED}def f():\n    raise ImportError({_SAID!r})", _SAID),
        (f"def f(name):\n    raise ImportError(f\"No module named '{{name}}'\")\nimport {_NOWHERE}", _SAID),
    ],
)
def test_what_is_only_said_to_be_missing_is_not(submitted: Submit, source: str, said: str) -> None:
    assert lacking(submitted({"answer.py": source}), said) is None


def test_what_a_test_or_demo_beside_the_answer_imports_is_no_need_of_the_answer(submitted: Submit) -> None:
    files = {"answer.py": "", "test_answer.py": f"import {_NOWHERE}", "broken.py": "def"}
    assert lacking(submitted(files), _SAID) is None


def test_only_a_failed_import_of_what_is_left_open_is_a_framework_s_absence(submitted: Submit) -> None:
    submission = submitted({"answer.py": _GUARDED})
    assert lacking_framework(submission, "ModuleNotFoundError", _SAID, {_NOWHERE})
    assert lacking_framework(submission, "AssertionError", _SAID, {_NOWHERE}) is None
    assert lacking_framework(submission, "ModuleNotFoundError", _SAID, {"torch"}) is None
