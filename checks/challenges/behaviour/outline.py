"""What a challenge's test files hold, as far as that is known without a submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from judge_tui.checks.challenges.author import Author, Authors
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.typed import converted

__all__ = ["Behaviour", "TestFile", "TestFunction", "collected"]

#: Seconds that collecting all files may take.
_PATIENCE = 60.0
#: What tests are known to need that may not be installed; another name that is not there is a slip.
PACKAGES = frozenset(
    {
        *(
            "attr",
            "attrs",
            "dateutil",
            "faker",
            "freezegun",
            "hypothesis",
            "jax",
            "joblib",
            "jsonschema",
            "lark",
        ),
        *(
            "matplotlib",
            "more_itertools",
            "mpmath",
            "networkx",
            "numba",
            "pandas",
            "PIL",
            "polars",
            "pydantic",
        ),
        *(
            "pyparsing",
            "pytest_asyncio",
            "pytest_mock",
            "pytz",
            "regex",
            "requests",
            "ruamel",
            "scipy",
            "shapely",
        ),
        *("skimage", "sklearn", "sortedcontainers", "sympy", "tensorflow", "toolz", "torch", "tqdm", "yaml"),
    }
)
Name = Annotated[str, msgspec.Meta(max_length=1_000)]
Text = Annotated[str, msgspec.Meta(max_length=20_000)]


class TestFunction(msgspec.Struct, frozen=True, omit_defaults=True):
    """A test function.

    Attributes:
        name: Its name.
        group: Names of the classes that it is in, with dots.
        line: 1-based.
        doc: Its docstring.
        rows: How many times it is run with other parameters.
    """

    __test__ = False

    name: Name
    group: Name = ""
    line: int = 0
    doc: Text = ""
    rows: int = 1


class TestFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of tests.

    Attributes:
        file: Relative to the challenge's folder.
        tests: What pytest collects of it.
        fault: Why it cannot be collected, the author's fault: one sentence; empty where it can.
        fault_file: Where, relative to the challenge's folder.
        fault_line: 1-based.
        missing: The package that it needs and that is not installed; empty for none.
        skipped: Why all of it skips itself; empty where it does not.
    """

    __test__ = False

    file: Name
    tests: tuple[TestFunction, ...] = ()
    fault: Text = ""
    fault_file: Name = ""
    fault_line: int = 0
    missing: Name = ""
    skipped: Text = ""

    @property
    def trouble(self) -> ChallengeFault | Skipped | None:
        """Why it gives no tests that it should give; ``None`` where nothing is wrong with it."""
        if self.missing:
            name = self.missing
            return Skipped(f"the challenge itself needs {name}, which is not installed: pip install {name}")
        if self.fault:
            return ChallengeFault(self.fault, file=self.fault_file or self.file, line=self.fault_line or None)
        return None


class Behaviour(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a challenge's tests ask, known before any submission is.

    Attributes:
        files: Their files.
        names: Names that they import from the submission.
        without_pytest: Whether there is no pytest to run them.
    """

    files: tuple[TestFile, ...] = ()
    names: tuple[Name, ...] = ()
    without_pytest: bool = False


class _Test(msgspec.Struct):
    name: Name
    group: Name
    line: int
    doc: Text
    row: Name


class _File(msgspec.Struct):
    file: Name
    tests: list[_Test] = []
    fault: Text = ""
    type: Name = ""
    line: int | None = None
    missing: Name = ""
    skipped: Text = ""
    fault_file: Name | None = None


class _Outline(msgspec.Struct):
    files: list[_File] = []
    names: tuple[Name, ...] = ()
    without: Text = ""


def collected(authors: Authors, challenge: Challenge, *, mode: Any = "auto") -> Behaviour:
    """Collect a challenge's tests in its author's jail, without a submission.

    Args:
        authors: Whose.
        challenge: The challenge.
        mode: How the jail is confined.

    Raises:
        ChallengeFault: Collecting them does not come to an end, or ends the process.
    """
    author = Author(challenge, authors.folder, mode=mode)
    try:
        reply = author.worker.ask("outline", budget=_PATIENCE)
        told = converted(dict(reply), _Outline)
    except Fault as fault:
        raise ChallengeFault(
            f"Its tests cannot be collected: that {fault.message}.", file=fault.file, line=fault.line,
            output=fault.output,
        ) from fault  # fmt: skip
    except msgspec.ValidationError as error:
        raise ChallengeFault(f"Its tests cannot be collected: {error}.") from error
    finally:
        author.close()
    return Behaviour(tuple(_file(file) for file in told.files), told.names, bool(told.without))


def _file(told: _File) -> TestFile:
    missing = told.missing.partition(".")[0]
    fault = sentence(told.type, told.fault) if told.fault else ""
    if missing in PACKAGES:
        fault = ""
    elif missing:
        fault = f"{missing} is imported, which is neither a file of the challenge nor an installed package."
    return TestFile(
        told.file, _functions(told.tests), fault, told.fault_file or "", told.line or 0,
        missing if missing in PACKAGES else "", told.skipped,
    )  # fmt: skip


def _functions(tests: Sequence[_Test]) -> tuple[TestFunction, ...]:
    """Functions in their order, parametrizations counted."""
    found: dict[tuple[str, str], list[_Test]] = {}
    for test in tests:
        found.setdefault((test.group, test.name), []).append(test)
    return tuple(
        TestFunction(name, group, rows[0].line, rows[0].doc, len(rows))
        for (group, name), rows in found.items()
    )


def sentence(kind: str, said: str) -> str:
    """What an author's code raised, as one sentence."""
    text = " ".join(said.split())
    plain = kind in ("UnfitError", "CollectError", "Failed", "")
    clause = text if plain or not kind else f"{kind}: {text}" if text else kind
    return f"The tests cannot be collected: {clause}."[:1_000]
