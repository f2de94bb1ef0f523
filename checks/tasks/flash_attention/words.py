"""Attention that is told by a word whether to mask: ``mask_type="causal"``, ``mode=Mask.NONE``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.handover import Target
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import Submission

__all__ = ["MODE", "Said", "sayings"]

#: The canonical parameter that holds the word.
MODE = "mode"
_NAMED = re.compile(r"mask|causal|mode|pattern|variant|kind|attn_?type|attention_?type", re.I)
_CAUSAL = re.compile(r"^causal$|^autoregressive$|lower_?(left|triang)|^tril$", re.I)
_WORD = re.compile(r"^[A-Za-z][\w-]{1,23}$")
#: What full attention is called, likeliest first; then any other word of the file.
_FULL = ("none", "full", "bidirectional", "noncausal", "non_causal", "non-causal", "dense", "off", "no_mask")
_MOST = 8

Inventories = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Said:
    """A way to tell.

    Attributes:
        binding: Takes the word.
        words: Whether it shall be causal → the word: a text, ``None``, or a member of an enumeration.
    """

    binding: Binding
    words: Mapping[bool, Any]


def sayings(submission: Submission, loaded: Inventories, binding: Binding) -> Iterator[Said]:
    """Ways in which a callable may be told by a word, likeliest first; a call shows which one is meant.

    Args:
        submission: For its source.
        loaded: File → inventory.
        binding: A callable that takes no switch.
    """
    texts, members = _words(submission, binding.file)
    owner, _, own = binding.name.rpartition(".")
    for param in _params(loaded, binding.file, owner, own):
        default = str(param.get("default", ""))
        switch = isinstance(param.get("default"), (bool, int, float))
        if param["kind"].startswith("VAR_") or switch or not _NAMED.search(param["name"]):
            continue
        told = _telling(binding, param["name"])
        options: list[str | Target] = [*texts, *members]
        causal = [word for word in options if _CAUSAL.search(_text(word))]
        full: list[str | Target | None] = [word for word in (*options, None) if word not in causal]
        full.sort(key=lambda word: (_rank(word), _text(word) != default))
        for yes in causal[:3]:
            for no in full[:_MOST]:
                if isinstance(yes, Target) == isinstance(no, Target) or no is None:
                    yield Said(told, {True: yes, False: no})


def _telling(binding: Binding, name: str) -> Binding:
    """The same, with the word for a parameter; in the place of a mask where it takes one."""
    if any(a.source in ("mask", MODE) for a in binding.args):
        args = (replace(a, source=MODE) if a.source == "mask" else a for a in binding.args)
        return replace(binding, args=tuple(args))
    return replace(binding, args=(*binding.args, Argument(MODE, name)))


def _params(loaded: Inventories, file: str, owner: str, own: str) -> Sequence[Mapping[str, Any]]:
    """The parameters of the function or method itself."""
    inventory = loaded.get(file, {})
    if not owner:
        found = (f for f in inventory.get("functions", ()) if f["name"] == own)
    else:
        classes = (c for c in inventory.get("classes", ()) if c["name"] == owner)
        found = (m for c in classes for m in c["methods"] if m["name"] == own)
    return next((each["params"] or () for each in found), ())


def _words(submission: Submission, file: str) -> tuple[list[str], list[Target]]:
    """Texts of one word that a file holds, and members of its enumerations."""
    try:
        tree = parsed(submission.read_bytes(file))
    except SyntaxError:
        return [], []
    constants = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    members = [
        Target(file, f"{cls.name}.{target.id}")
        for cls in ast.walk(tree)
        if isinstance(cls, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in cls.bases)
        for line in cls.body
        if isinstance(line, ast.Assign)
        for target in line.targets
        if isinstance(target, ast.Name)
    ]
    return list(dict.fromkeys(text for text in constants if _WORD.match(text))), members


def _text(word: str | Target | None) -> str:
    return "" if word is None else word.name.rpartition(".")[2] if isinstance(word, Target) else word


def _rank(word: str | Target | None) -> int:
    text = _text(word).lower()
    return _FULL.index(text) if text in _FULL else len(_FULL)
