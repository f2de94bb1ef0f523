"""What somebody needs to write an ``adapter.py``, as one text: for a language model, or a colleague.

It says what is asked for, what the submission has, what was tried, and how the adapter will be tried. It
names no model, so that it can be handed on from a blind comparison.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence

from judge_tui.checks.adapter_skeleton import handed, imports, in_a_line, offered, shown
from judge_tui.checks.binding.binder import Bindings
from judge_tui.checks.bound import called
from judge_tui.checks.contract import Contract, Sample
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import Submission

__all__ = ["prompt"]

_WIDTH = 110
_MOST_TRIED, _MOST_DOC_LINES, _MOST_DOCS, _MOST_ACTIVE = 24, 4, 10, 3
_RULES = (
    "Rules:",
    "- adapter.py is one Python file. It runs in the submission's sandbox, which has NumPy and the "
    "submission's files, and nothing else.",
    "- A function that is named after a role plays it. It takes those of the role's parameters that it "
    "wants, by the names below, and returns what the role gives, in the order below; what is marked ? "
    "may be left out.",
    "- It only calls the submission: it may reshape, split, copy and convert arrays, and keep objects, "
    "but must not compute the answer itself.",
    "- Leave out roles that the submission does not have, and roles that were found: those need no function.",
    "- Fewer than 30 lines are usual. Answer with the file alone.",
)
_MODEL = (
    "A model is called with all tokens so far, prompt included, as one list of ids: model([8, 3, 4]) gives "
    "the log-probabilities of the token that comes next, an array (vocab_size,). It remembers nothing."
)
_TRIAL = (
    "How it is tried: judge-tui imports adapter.py, calls each function on a small random sample of the "
    "shapes above, and looks whether what comes back has the shapes that the role gives. Only then does "
    "it count; the same checks as for any submission follow, on fresh sizes, and their evidence says "
    "that an adapter was used. A function that raises, or answers in another shape, leaves its role "
    "open, with the reason.",
)


def prompt(title: str, contract: Contract, submission: Submission, found: Bindings, sample: Sample) -> str:
    """The text, without a name of who wrote the submission.

    Args:
        title: The challenge's.
        contract: Its roles.
        submission: Whose docstrings are told.
        found: What the binder found, and what it tried.
        sample: For shapes and dtypes.
    """
    parts = (
        _intended(title, contract),
        _RULES,
        _roles(contract, found, sample),
        _defined(found, submission),
        _tried(contract, found),
        _TRIAL,
        _begun(contract, found, sample),
    )
    return "\n\n".join("\n".join(_lines(part)) for part in parts) + "\n"


def _lines(part: Iterator[str] | Sequence[str]) -> Iterator[str]:
    """Lines of a part, long ones wrapped below their own beginning."""
    for line in part:
        indent = " " * (len(line) - len(line.lstrip(" #-")) + 2)
        yield from textwrap.wrap(
            shown(line), _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]


def _intended(title: str, contract: Contract) -> Iterator[str]:
    yield f"Write adapter.py, through which judge-tui calls a submission for the challenge '{title}'."
    yield "The submission's design is unusual, and not everything that the checks need was found in it."
    if contract.text:
        yield f"The challenge asks for: {contract.text}"


def _roles(contract: Contract, found: Bindings, sample: Sample) -> Iterator[str]:
    taken = [role for role in contract.roles if role.name in found.found]
    missing = [role for role in contract.roles if role.name not in found.found]
    if taken:
        yield "Roles that were found, and how each is called:"
        yield from (
            f"- {role.name}: {found[role.name].target} as {called(found[role.name])}" for role in taken
        )
        yield ""
    yield (
        "Roles that are open (parameters → what it gives; shapes and values are those of the sample; "
        "an object is what an earlier role gave):"
    )
    for role in missing:
        told = f"; {role.sought}" if role.sought else ""
        yield f"- {in_a_line(role, contract, sample)}" + ("" if role.required else " [optional]") + told
    if any(param.kind == "model" for role in missing for param in role.params):
        yield ""
        yield _MODEL


def _defined(found: Bindings, submission: Submission) -> Iterator[str]:
    """Signatures, and what the submission's own texts say of them."""
    yield from (line.removeprefix("# ").replace("#   ", "- ") for line in offered(found))
    told = [text for file in found.loaded for text in _docstrings(submission, file)]
    if told:
        yield ""
        yield "What its own docstrings say:"
    yield from told[:_MOST_DOCS]


def _docstrings(submission: Submission, file: str) -> Iterator[str]:
    try:
        tree = parsed(submission.read_bytes(file))
    except (SyntaxError, OSError):
        return
    yield from _documented(tree.body, "")


def _documented(body: Sequence[ast.stmt], owner: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if doc := ast.get_docstring(node):
                lines = [line.strip() for line in doc.split("\n") if line.strip()]
                yield f"- {owner}{node.name}: {' '.join(lines[:_MOST_DOC_LINES])}"
            if isinstance(node, ast.ClassDef):
                yield from _documented(node.body, f"{node.name}.")


def _tried(contract: Contract, found: Bindings) -> Iterator[str]:
    """What failed and how, each reason once."""
    notes: dict[str, list[str]] = {}
    for role in contract.roles:
        if role.name not in found.found:
            for note in found.rejected.get(role.name, ()):
                notes.setdefault(note, []).append(role.name)
    yield "What was tried without an adapter, and how it failed:"
    if not notes:
        yield "- nothing looked like what is asked for"
    for note, roles in list(notes.items())[:_MOST_TRIED]:
        more = f" and {len(roles) - _MOST_ACTIVE} more" if len(roles) > _MOST_ACTIVE else ""
        yield f"- for {', '.join(roles[:_MOST_ACTIVE])}{more}: {note}"


def _begun(contract: Contract, found: Bindings, sample: Sample) -> Iterator[str]:
    """The beginning of the file."""
    missing = [role for role in contract.roles if role.name not in found.found]
    active = [role for role in missing if role.required] or missing[: 0 if found.found else _MOST_ACTIVE]
    yield "A beginning, to be changed as needed:"
    yield ""
    yield "import numpy as np"
    yield from (line.removeprefix("# ") for line in imports(found))
    for role in active:
        params = handed(role, contract, sample)
        required = [p.name for p in params if p.required] or [p.name for p in params[:_MOST_ACTIVE]]
        yield ""
        yield f"def {role.name}({', '.join(required)}):"
        gives = ", ".join(item.name for item in role.returns if item.required and item.kind != "self")
        yield f"    return {gives}"
