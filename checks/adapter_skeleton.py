"""The skeleton of an ``adapter.py``: the contract's roles as functions, and what the submission has for them.

An adapter is Python beside a submission, and runs in its sandbox. A function that it names
after a role plays the role: it takes canonical parameters, those that it wants, and returns
what the role gives, in the contract's order.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from judge_tui.checks.binding.binder import Bindings
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.bound import called, signature
from judge_tui.checks.contract import Contract, Param, Return, Role, Sample

__all__ = ["handed", "imports", "in_a_line", "offered", "shown", "skeleton"]

_MOST = 40
_WIDTH = 110


def skeleton(contract: Contract, found: Bindings, sample: Sample) -> str:
    """The text of an adapter that loads, and says at the first call which role is still to be filled.

    Args:
        contract: Its roles; those that are found already stand as comments.
        found: What the binder found.
        sample: For shapes and dtypes.
    """
    to_fill = [role for role in contract.roles if role.name not in found.found and role.required]
    if not to_fill and not found.found:
        # Where no single role is required, the first one is where to begin.
        to_fill = list(contract.roles[:1])
    lines = [
        '"""How judge-tui calls this submission: a function named after a role plays it."""',
        "",
        *_asked(contract),
        "# A function takes what it wants of its role's parameters, by their names, and returns what the",
        "# role gives, in the same order. What is found already needs none; delete what does not apply.",
        "",
        *offered(found),
        "",
        *imports(found),
    ]
    lines += _found(contract, found)
    for role in to_fill:
        lines += ["", "", *_role(role, handed(role, contract, sample), sample)]
    open_ = [r for r in contract.roles if r.name not in found.found and r not in to_fill]
    if open_:
        lines += ["", "", "# Optional roles, each a function of its own; what is marked ? may be left out:"]
    for role in open_:
        told = f"# {in_a_line(role, contract, sample)}"
        lines += textwrap.wrap(
            told, _WIDTH, subsequent_indent="#     ", break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines).rstrip() + "\n"


def _asked(contract: Contract) -> Iterator[str]:
    if contract.text:
        yield from _comment(f"Asked for: {contract.text}")


def offered(found: Bindings) -> Iterator[str]:
    """The real signatures of what the submission defines."""
    yield "# The submission defines:"
    seen = list(callables(found.loaded))
    for item in seen[:_MOST]:
        yield shown(f"#   {item.file}:{item.line}  {signature(item.name, item.params)}")
        if item.owner is not None and item.owner["methods"][0]["name"] == item.name.rpartition(".")[2]:
            yield shown(f"#       made by {signature(item.owner['name'], item.owner['params'])}")
    if len(seen) > _MOST:
        yield f"#   … and {len(seen) - _MOST} more"
    if not seen:
        yield "#   nothing that could be imported"


def imports(found: Bindings) -> Iterator[str]:
    """Comments that import what the submission defines."""
    for file, inventory in found.loaded.items():
        module = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        defined = (*inventory.get("classes", ()), *inventory.get("functions", ()))
        names = (str(item["name"]) for item in defined)
        public = [name for name in names if name.isidentifier() and not name.startswith("_")][:6]
        if public and all(part.isidentifier() for part in module.split(".")):
            yield shown(f"# from {module} import {', '.join(public)}")


def _found(contract: Contract, found: Bindings) -> Iterator[str]:
    bindings = [(role.name, found.found[role.name]) for role in contract.roles if role.name in found.found]
    if bindings:
        yield ""
    for name, binding in bindings:
        yield shown(f"# {name} was found: {binding.target}, called as {called(binding)}")


def _role(role: Role, params: Sequence[Param], sample: Sample) -> Iterator[str]:
    """A role that is to be filled."""
    yield f"def {role.name}({', '.join(p.name for p in params)}):"
    yield f'    """{_title(role)}'
    yield ""
    yield from (f"    {param.name}: {_kind(param, sample)}" for param in params)
    yield f"    Returns {_gives(role, sample.shapes)}."
    yield '    """'
    yield f"    raise NotImplementedError(\"role '{role.name}' is still to be filled in adapter.py\")"


def in_a_line(role: Role, contract: Contract, sample: Sample) -> str:
    """``name(parameters) → what it gives``, with shapes and kinds; ``?`` marks what may be left out."""
    given = ", ".join(_taken(param, sample) for param in handed(role, contract, sample))
    gives = ", ".join(_given(item, sample.shapes) for item in role.returns if item.kind != "self")
    return f"{role.name}({given}) → {gives or 'nothing'}"


def handed(role: Role, contract: Contract, sample: Sample) -> list[Param]:
    """What a role is handed; a contract that finds its roles together hands over whatever it has."""
    return [p for p in role.params if p.required or p.name in sample.inputs or contract.find]


def _taken(param: Param, sample: Sample) -> str:
    value = sample.inputs.get(param.name)
    optional = "" if param.required else "?"
    if isinstance(value, np.ndarray):
        return f"{param.name}{optional}: array {value.shape} {value.dtype}"
    if param.kind == "handle":
        return f"{param.name}{optional}: object"
    plain = value is not None and param.kind != "model"
    told = f"{value:.4g}" if isinstance(value, float) else str(value)[:40]
    return f"{param.name}{optional}: {param.kind}" + (f" {told}" if plain else "")


def _given(item: Return, shapes: Mapping[str, tuple[int, ...]]) -> str:
    what = f"array {shapes[item.name]}" if item.name in shapes else "any object" * (item.kind == "handle")
    return f"{item.name}{'' if item.required else '?'}" + f": {what}" * bool(what)


def _title(role: Role) -> str:
    return f"Play the role {role.name}: keep the parameters that are needed."


def _kind(param: Param, sample: Sample) -> str:
    """What a parameter is, with the probe's shape and dtype."""
    value = sample.inputs.get(param.name)
    optional = "" if param.required else ", may be left out"
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {value.dtype} in the probe{optional}"
    if param.kind == "handle":
        return f"what an earlier role gave{optional}"
    shown = "" if value is None or param.kind == "model" else f", {str(value)[:60]!r} in the probe"
    return f"{param.kind}{shown}{optional}".replace('"', "'")


def _gives(role: Role, shapes: Mapping[str, tuple[int, ...]]) -> str:
    parts = [
        f"{item.name} {shapes[item.name]}" if item.name in shapes else f"{item.name} (any object)"
        for item in role.returns
        if item.kind != "self"
    ]
    optional = {item.name for item in role.returns if not item.required}
    told = [f"{part} or nothing" if part.split()[0] in optional else part for part in parts]
    return f"({', '.join(told)})" if len(told) > 1 else "".join(told) or "nothing"


def _comment(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"# {line}".rstrip()


def shown(text: str) -> str:
    """Text of the submission's in one line of a comment, whatever it holds."""
    return "".join(character if character.isprintable() else "?" for character in text)
