"""What the parameters of a launcher or kernel mean, by type and name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from judge_tui.checks.cuda.definitions import Function, Parameter

__all__ = ["FLOATS", "INDEX_NAMES", "INTEGERS", "arguments", "index_type", "lacking", "means"]

FLOATS = frozenset({"float", "float2", "float4"})
INTEGERS = frozenset({
    "int", "int32_t", "std::int32_t", "unsigned", "unsigned int", "uint32_t", "int2", "int4", "long",
    "long long", "int64_t", "std::int64_t", "long long int", "size_t", "std::size_t", "uint64_t",
    "unsigned long long", "short", "int64", "int32", "long int", "unsigned long", "ptrdiff_t",
})  # fmt: skip
_WIDE = frozenset({
    "long", "long long", "int64_t", "std::int64_t", "long long int", "size_t", "std::size_t", "uint64_t",
    "unsigned long long", "int64", "long int", "unsigned long", "ptrdiff_t",
})  # fmt: skip
_SIZES = frozenset({"size_t", "std::size_t"})
_NARROW = frozenset({"__half", "half", "__nv_bfloat16", "nv_bfloat16", "__half2", "half2", "double"})
#: Meaning → names without case, underscores and the prefixes of counts.
_NAMES = {
    "K": ("k", "topk", "kk", "topkk", "topn", "ktop", "krt", "kruntime", "beam", "kreq", "requestedk"),
    "V": ("v", "vocab", "vocabsize", "vocabularysize", "vocabulary", "classes", "cols", "columns", "dim",
          "vsize", "width", "length", "len", "rowlength", "rowsize", "logitsperrow", "entries", "experts"),
    "rows": ("rows", "m", "bt", "totalrows", "tokens", "batchseq", "rowcount", "batchtime", "positions",
             "bxt", "btrows", "batchrows", "totaltokens", "outer", "sequences"),
    "B": ("b", "batch", "batchsize", "bsz", "batches", "bs"),
    "T": ("t", "seq", "seqlen", "time", "steps", "sequencelength", "timesteps", "seqlength", "tsteps", "s",
          "tlen"),
    "stride": ("outstride", "kstride", "outputstride", "ostride", "ldo", "stride"),
}  # fmt: skip
_ROW_STRIDES = frozenset({"rowstride", "instride", "ldv", "logitsstride", "inputstride", "ldl", "vstride"})
#: A number of entries from one row of an array to the next, and what it says of which.
_DISTANCE = re.compile(
    r"(?:n_?)?(?:ld_?(\w*)|(?:(\w+?)_?)??(?:row_?)?(?:stride|pitch|distance)(?:_(\w+))?)$", re.I
)
_BETWEEN_ROWS = {"logits": "V", "indices": "stride", "probabilities": "stride"}
#: What indices are called.
INDEX_NAMES = re.compile(r"ind|idx|tok|\bids?\b|_ids?|^ids?|at$|pos|arg", re.I)
_LOGIT_NAMES = re.compile(r"logit|^x$|^z$|^in$|input|score|^src|_in$|^d_in|^data", re.I)
#: What a further answer of one number per row is called.
_ROW_NAMES = re.compile(r"lse|log_?sum|log_?z|log_?norm|partition|denom|max(im)?|peak|norm|sum", re.I)
#: Room that a launcher wants from its caller, and where it says how much.
_SCRATCH = re.compile(r"scratch|work_?space|te?mp|storage|buf", re.I)
_BYTES = re.compile(r"bytes|size", re.I)
_MOST = 12


def _plain(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return re.sub(r"^(?:num(?=.)|n(?=rows|tok|batch|class|vocab|col|seq|k$)|total(?=_)|h(?=rows))", "", plain)


def means(name: str) -> str:
    """What a count's name says: ``K``, ``V``, ``rows``, ``B``, ``T``, ``stride``; empty when nothing."""
    plain = _plain(name)
    if plain in _ROW_STRIDES:
        return "V"
    return next((meaning for meaning, names in _NAMES.items() if plain in names), "")


def index_type(function: Function, args: Sequence[str]) -> str:
    """``int32`` or ``int64``: what the indices' pointer points to."""
    for parameter, value in zip(function.parameters, args, strict=False):
        if value == "indices":
            return "int64" if parameter.type in _WIDE else "int32"
    return "int32"


def arguments(function: Function) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What a function's parameters may be given, likeliest first; nothing where it cannot play the role.

    Args:
        function: A host function or kernel; its template's types are filled in.

    Yields:
        Values per parameter, and the names of parameters whose meaning is a guess.
    """
    pointers = _pointers(function.parameters)
    if pointers is None or (function.kind == "kernel" and "scratch" in pointers.values()):
        return
    given = [_given(function.parameters, pointers, defaults=keep) for keep in (True, False)]
    K = any(means(each.name) == "K" for each in function.template)
    for fixed in dict.fromkeys(each for each in given if each is not None):
        open_ = [index for index, value in enumerate(fixed) if not value]
        guessed = tuple(function.parameters[index].name or "unnamed" for index in open_)
        for values in itertools.islice(_settled(function, list(fixed), open_, has_K=K), _MOST):
            yield values, guessed


def lacking(function: Function) -> str:
    """Why a function for which :func:`arguments` has nothing cannot be launched, as a clause."""
    parameters = function.parameters
    if _pointers(parameters) is None:
        other = (
            p for p in parameters if p.pointers == 1 and p.type in _NARROW and _LOGIT_NAMES.search(p.name)
        )
        for narrow in other:
            return f"takes {narrow.name} in {narrow.type}, and the challenge's are float"
        return "does not take logits, indices and probabilities"
    told = {means(p.name) for p in parameters if not p.pointers}
    if "V" not in told:
        numbers = ", ".join(each.name for each in function.template if each.type in INTEGERS)
        fixed = f" (its template fixes {numbers} when it is compiled)" if numbers else ""
        return f"takes logits, indices and probabilities, but no parameter tells V{fixed}"
    return "takes logits, indices and probabilities beside parameters of which nothing is known"


def _given(
    parameters: Sequence[Parameter], pointers: Mapping[int, str], *, defaults: bool
) -> tuple[str, ...] | None:
    """What parameters are given as far as types and names tell, empty where they do not.

    Args:
        parameters: Of the function.
        pointers: Position → logits, indices or probabilities.
        defaults: Whether a number of unknown meaning keeps its default, with all that follows.

    Returns:
        ``None`` where one cannot be given.
    """
    fixed: list[str] = []
    for index, parameter in enumerate(parameters):
        value = pointers.get(index) or _distance(parameters, index, pointers) or _scalar(parameter)
        last = parameter.default and not any(later in pointers for later in range(index, len(parameters)))
        if last and (value is None or (defaults and not value)):
            break
        if value is None:
            return None
        fixed.append(value)
    return tuple(fixed)


def _distance(parameters: Sequence[Parameter], index: int, pointers: Mapping[int, str]) -> str:
    """From one row to the next of which array a number is: ``V`` or ``stride``; empty where no name says so.

    An array's name that begins like the distance's tells (``ldi`` and ``ids``); else, as in BLAS, a distance
    stands behind its array.
    """
    parameter = parameters[index]
    named = _DISTANCE.match(parameter.name)
    if parameter.pointers or parameter.type not in INTEGERS or not named:
        return ""
    if means(parameter.name) == "V" and not parameter.name.lower().startswith("ld"):
        # "row_stride" and "in_stride" say it by themselves, wherever they stand.
        return "V"
    of = next(filter(None, named.groups()), "").lower()
    between = {at: _BETWEEN_ROWS[value] for at, value in pointers.items() if value in _BETWEEN_ROWS}
    names = {at: parameters[at].name.lower() for at in between}
    alike = {between[at] for at, name in names.items() if of and (name.startswith(of) or of.startswith(name))}
    return alike.pop() if len(alike) == 1 else between.get(index - 1, "")


def _pointers(parameters: Sequence[Parameter]) -> dict[int, str] | None:
    """Position → logits, indices, probabilities or one more number per row; ``None`` where one is unknown."""
    found: dict[int, str] = {}
    taken: set[str] = set()
    beside: list[int] = []
    # const data are the logits; without const the name says so
    scratch = _scratch(parameters)
    for index, parameter in enumerate(parameters):
        if parameter.pointers != 1 or _bare_stream(parameter) or index in scratch:
            continue
        value = _pointer(parameter, taken)
        if value is None and _ROW_NAMES.search(parameter.name) and parameter.type in ("float", "double"):
            beside.append(index)
            continue
        if value is None:
            return None
        found[index] = value
        taken.add(value)
    found.update({**dict.fromkeys(beside, "per_row"), **scratch})
    return found if taken >= {"logits", "indices", "probabilities"} else None


def _scratch(parameters: Sequence[Parameter]) -> dict[int, str]:
    """Position → room for the launcher, and the number of bytes, beside it, that it says it wants."""
    for index, parameter in enumerate(parameters):
        if parameter.type == "void" and parameter.pointers == 1 and _SCRATCH.search(parameter.name):
            for beside in (index + 1, index - 1):
                told = parameters[beside] if 0 <= beside < len(parameters) else None
                if told and told.type in _SIZES and told.pointers == 1 and _BYTES.search(told.name):
                    return {index: "scratch", beside: "scratch_bytes"}
    return {}


def _pointer(parameter: Parameter, taken: set[str]) -> str | None:
    real, whole = parameter.type in FLOATS, parameter.type in INTEGERS
    if real and "logits" not in taken and (parameter.const or _LOGIT_NAMES.search(parameter.name)):
        return "logits"
    if real and not parameter.const and "probabilities" not in taken:
        return "probabilities"
    if whole and not parameter.const and "indices" not in taken:
        return "indices"
    return None


def _bare_stream(parameter: Parameter) -> bool:
    """Whether it is a stream as a C interface has it: ``void* stream``."""
    return parameter.type == "void" and parameter.pointers == 1 and "stream" in parameter.name.lower()


def _scalar(parameter: Parameter) -> str | None:
    """What a plain parameter is given; empty when its name does not say, ``None`` when it cannot be given."""
    if parameter.pointers > 1:
        return None
    if parameter.type in ("cudaStream_t", "CUstream_st") or _bare_stream(parameter):
        return "stream"
    if parameter.type in INTEGERS:
        return means(parameter.name)
    if parameter.default:
        return None
    if parameter.type in ("float", "double"):
        return "=1.0f" if re.search(r"temp|scale|tau|beta", parameter.name, re.I) else None
    return "=true" if parameter.type == "bool" else None


def _settled(
    function: Function, fixed: list[str], open_: Sequence[int], *, has_K: bool
) -> Iterator[tuple[str, ...]]:
    """Fill in counts that names do not tell, in the order that the contract has them."""
    values = list(fixed)
    if "B" in values and "T" not in values and "rows" not in values:
        values[values.index("B")] = "rows"
    if "T" in values and "B" not in values and "rows" not in values:
        values[values.index("T")] = "rows"
    for meaning in ("V", "K", "rows"):
        doubled = [i for i, value in enumerate(values) if value == meaning]
        for again in doubled[1:]:
            values[again] = "stride" if meaning == "K" else values[again]
    missing = [name for name in ("rows", "V", "K") if name not in values]
    if has_K and "K" in missing:
        missing.remove("K")
    if {"B", "T"} <= set(values) and "rows" in missing:
        missing.remove("rows")
    if function.kind == "kernel" and "rows" in missing and len(missing) > len(open_):
        missing.remove("rows")
    if len(open_) < len(missing):
        return
    seen: set[tuple[str, ...]] = set()
    for distances in itertools.combinations_with_replacement(("V", "stride"), len(open_) - len(missing)):
        for order in itertools.permutations([*missing, *distances]):
            filled = list(values)
            for index, name in zip(open_, order, strict=True):
                filled[index] = name
            if (made := tuple(filled)) not in seen:
                seen.add(made)
                yield made
