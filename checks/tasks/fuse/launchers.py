"""Finding how a submission is launched: its host launchers, else its kernels with a grid rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.definitions import Function, Parameter, TemplateParameter
from judge_tui.checks.cuda.reading import Reading
from judge_tui.checks.sources import is_side_program
from judge_tui.checks.tasks.fuse.dispatch import picked_by_sizes
from judge_tui.checks.tasks.fuse.grids import configurations
from judge_tui.checks.tasks.fuse.launcher import Launcher, Variant
from judge_tui.checks.tasks.fuse.signature import FLOATS, INDEX_NAMES, INTEGERS, arguments, index_type, means

__all__ = ["alternatives", "candidates", "host_of", "typed", "variants"]

_NOT_IT = re.compile(
    r"naive|reference|(?:^|_)ref(?:_|$)|cpu|baseline|golden|verify|check|(?:^|_)tests?(?:_|$)|bench|two_?pass_?separate",
    re.I,
)
_LIKELY = re.compile(r"top_?k|softmax|fused", re.I)
_FUSED = re.compile(r"fused|top_?k.*soft_?max|soft_?max.*top_?k", re.I)
_WORD = re.compile(r"[A-Za-z_]\w*")
_CAPACITIES = frozenset({"TOP_K", "TOPK", "MAX_K", "KMAX", "HEAP_K"})
_BLOCK_NAMES = re.compile(r"thread|block", re.I)
_MOST_OF_EACH = 4
_MOST_INSTANCES = 12
#: Numbers that are tried with a template that nothing instantiates.
_USUAL_K = (1, 5, 10, 16, 32, 64)


def candidates(reading: Reading) -> list[Launcher]:
    """Ways to launch a submission, likeliest first: host functions, then kernels.

    Args:
        reading: Of its repaired sources.
    """
    starting = _starting(reading)
    hosts = [each for each in reading.hosts if each.short in starting and not _beside(reading, each)]
    found = [made for each in sorted(hosts, key=lambda f: _rank(f, hosts)) for made in _made(reading, each)]
    # what is called after both does both, beside passes of their own for one of them
    for kernel in sorted(reading.kernels, key=lambda kernel: not _FUSED.search(kernel.short)):
        if not _beside(reading, kernel):
            found += _made(reading, kernel)
    unlike: dict[tuple[str, str], Launcher] = {}
    for each in found:
        unlike.setdefault((each.file, each.called), each)
    return list(unlike.values())


def host_of(reading: Reading, launcher: Launcher) -> str:
    """The host function that launches a kernel in the submission; empty where a test alone does.

    Args:
        reading: Of the repaired sources.
        launcher: Of a kernel.
    """
    if not launcher.kernel:
        return ""
    short = launcher.name.rpartition("::")[2]
    for launch in reading.launches:
        if launch.kernel.rpartition("::")[2] == short and launch.within and not is_side_program(launch.file):
            name = launch.within.rpartition("::")[2]
            if name != "main" and not _NOT_IT.search(name):
                return launch.within
    return ""


def _beside(reading: Reading, function: Function) -> bool:
    """Whether it is a test's or a benchmark's, where kernels stand elsewhere, or is called so itself."""
    aside = all(is_side_program(kernel.file) for kernel in reading.kernels)
    return (is_side_program(function.file) and not aside) or bool(_NOT_IT.search(function.short))


def _starting(reading: Reading) -> set[str]:
    """Host functions that launch a kernel, by themselves or through others."""
    names = {each.within.rpartition("::")[2] for each in reading.launches}
    names |= {name for name, text in reading.macros.items() if "<<<" in text}
    names |= {
        each.short for each in reading.hosts if re.search(r"<<<|cudaLaunch\w*Kernel\w*\s*\(", each.body)
    }
    while True:
        # who makes an object may call it, whatever its method is called
        names |= {
            each.name.split("::")[-2] for each in reading.functions if each.method and each.short in names
        }
        more = {
            each.short
            for each in reading.hosts
            if each.short not in names
            and any(re.search(rf"\b{re.escape(n)}\b", each.body) for n in names if n)
        }
        more |= {
            name
            for name, text in reading.macros.items()
            if name not in names and any(re.search(rf"\b{re.escape(n)}\b", text) for n in names if n)
        }
        if not more:
            return names
        names |= more


def _rank(function: Function, others: Sequence[Function]) -> tuple[int, ...]:
    run_time = any(means(each.name) == "K" for each in function.parameters)
    called = any(
        other is not function and re.search(rf"\b{re.escape(function.short)}\b", other.body)
        for other in others
    )
    likely = bool(_LIKELY.search(function.short))
    later = bool(re.search(r"v[2-9]|old|alt", function.short))
    return (not run_time, called, later, not likely, bool(function.template))


def alternatives(bound: Launcher, found: Sequence[Launcher]) -> list[Launcher]:
    """Other whole launchers than the one that is bound, such as a second version in a file of its own.

    Beside a kernel that is launched by itself, others that take the same are such too.

    Args:
        bound: The one that is bound.
        found: Of :func:`candidates`.
    """
    wholes = [
        each
        for each in found
        if not each.kernel and not each.doubts and "K" in each.args and each.file != bound.file
    ]
    kernels: dict[str, Launcher] = {}
    for each in found if bound.kernel else ():
        alike = (
            each.kernel
            and sorted(each.args) == sorted(bound.args)
            and len(each.template) == len(bound.template)
        )
        if alike and each.target != bound.target and not each.doubts:
            kernels.setdefault(each.target, each)
    return [*wholes, *kernels.values()]


def _made(reading: Reading, function: Function) -> Iterator[Launcher]:
    kernel = function.kind == "kernel"
    function = function if kernel else _unveiled(reading, function)
    template = _template(reading, function)
    if template is None:
        return
    filled, instances, doubts = template
    function = typed(function, filled)
    types = tuple(f"{each.type}{'*' * each.pointers}" for each in function.parameters)
    number = "number" if function.returns in INTEGERS else "status"
    returns = {"void": "nothing", "bool": "bool"}.get(function.returns, number)
    count = 0
    for args, guessed in arguments(function):
        plain = Launcher(
            function.file, function.name, args, types[: len(args)], filled, instances, kernel,
            index=index_type(function, args), returns="nothing" if kernel else returns, line=function.line,
            why=f"{function.kind} function with logits, indices and probabilities",
            doubts=(*doubts, *(f"what '{name}' means" for name in guessed)), structs=function.structs,
        )  # fmt: skip
        options = configurations(reading, function, plain) if kernel else [plain]
        for option in options:
            yield option
            count += 1
            if count >= _MOST_OF_EACH:
                return


def _unveiled(reading: Reading, function: Function) -> Function:
    """A host function whose pointers to ``void`` have the types of the kernel's to which it hands them on."""
    types: dict[str, Parameter] = {}
    kernels = {kernel.short: kernel for kernel in reading.kernels}
    for launch in reading.launches:
        kernel = kernels.get(launch.kernel.rpartition("::")[2])
        if kernel is None or launch.within.rpartition("::")[2] != function.short:
            continue
        for argument, parameter in zip(launch.args, kernel.parameters, strict=False):
            words = _WORD.findall(argument)
            if words and parameter.pointers == 1:
                types.setdefault(words[-1], parameter)
    parameters = tuple(
        replace(each, type=types[each.name].type, const=each.const or types[each.name].const)
        if each.type == "void" and each.pointers == 1 and each.name in types
        else each
        for each in function.parameters
    )
    return replace(function, parameters=parameters)


def _template(
    reading: Reading, function: Function
) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]] | None:
    """Template arguments, the numbers K that are instantiated, and guesses; ``None`` where they are open."""
    filled: list[str] = []
    instances: tuple[int, ...] = ()
    doubts: list[str] = []
    for parameter in function.template:
        if parameter.type == "typename":
            filled.append(_type(reading, function, parameter.name))
        elif means(parameter.name) == "K" or parameter.name.upper() in _CAPACITIES:
            filled.append("K")
            instances = reading.offered(function, parameter.name)[:_MOST_INSTANCES]
            if not instances:
                instances = _USUAL_K
                doubts.append("for which K it is instantiated")
        else:
            value = _usual(reading, function, parameter)
            if value is None:
                return None
            filled.append(str(value))
    return tuple(filled), instances, tuple(doubts)


def _type(reading: Reading, function: Function, name: str) -> str:
    """The type that a template is used with; else what the parameters of that type are called decides."""
    given = [each for each in reading.given(function, name) if each in FLOATS | INTEGERS]
    called = [name, *(each.name for each in function.parameters if each.type == name)]
    usual = "int" if any(INDEX_NAMES.search(each) for each in called) else "float"
    return given[0] if given else usual


def typed(function: Function, filled: Sequence[str]) -> Function:
    """The function with the types that its template is filled with.

    Args:
        function: With its own names for them.
        filled: Template arguments; they may be fewer than there are parameters.
    """
    types = {
        parameter.name: value
        for parameter, value in zip(function.template, filled, strict=False)
        if parameter.type == "typename"
    }
    parameters = tuple(replace(each, type=types.get(each.type, each.type)) for each in function.parameters)
    structs = tuple(
        replace(each, name=_WORD.sub(lambda word: types.get(word[0], word[0]), each.name))
        for each in function.structs
    )
    return replace(function, parameters=parameters, structs=structs)


def _usual(reading: Reading, function: Function, parameter: TemplateParameter) -> int | None:
    """The value of a template parameter that is the launch's own business."""
    default = integer(parameter.default, reading.constants)
    if default is not None:
        return default
    if parameter.type == "bool":
        return 0
    if offered := reading.offered(function, parameter.name):
        return offered[-1]
    if parameter.default:
        return None
    return 256 if _BLOCK_NAMES.search(parameter.name) else None


def variants(reading: Reading, launcher: Launcher) -> list[Launcher]:
    """The launcher with every other value that the code gives to template parameters apart from K.

    A host function with a run-time K has none; then the launchers or kernels that it calls are looked at,
    but for those that it picks by the sizes: it alone knows what each is for.

    Args:
        reading: Of the repaired sources.
        launcher: The one that is bound.
    """
    found: list[Launcher] = []
    functions = {each.name: each for each in reading.functions}
    own = functions.get(launcher.name)
    for function in (own, *reading.hosts):
        if function is None or not function.template or (function is not own and _beside(reading, function)):
            continue
        base = launcher if function is own else next(_made(reading, function), None)
        if base is None or (function is not own and own is not None and function.short not in own.body):
            continue
        if own is not None and function is not own and picked_by_sizes(own, launcher, function.short):
            continue
        found += _varied(reading, function, base, functions)
    return found


def _varied(
    reading: Reading, function: Function, base: Launcher, functions: Mapping[str, Function]
) -> Iterator[Launcher]:
    for index, parameter in enumerate(function.template):
        if base.template[index] == "K" or parameter.type == "typename":
            continue
        usual = base.template[index]
        for value in reading.offered(function, parameter.name):
            template = (*base.template[:index], str(value), *base.template[index + 1 :])
            variant = Variant(parameter.name, str(value), usual=str(value) == usual)
            varied = replace(base, template=template, variant=variant)
            if base.kernel:
                # its grid follows from its template arguments
                made = next(iter(configurations(reading, function, varied)), None)
                varied = made or varied
            yield varied
