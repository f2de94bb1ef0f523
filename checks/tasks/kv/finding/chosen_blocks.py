"""Finding a pool whose blocks the caller chooses: what makes it, and what is told where tokens go and are.

Parameters say that a call is of this kind; nothing is called where none is told of blocks. In which form they
go in, for one sequence or for several, as arrays or as lists, is a reading that a trial settles.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.solver import Family, Option, Search, Trial
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.faces.pool import PoolSizes
from judge_tui.checks.tasks.kv.finding.pool_trials import NEAR, Play, playing
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.words.block_roles import ATTEND, CREATE, READS, WRITES, Form

__all__ = ["find"]

#: A sequence of more than a block, token by token.
_WRITTEN = playing(Play(((0, 6),), reads=False))
#: Two sequences that grow by turns over more than a block, where one has gone before.
_GROWN = playing(Play(((0, 8), (0, 0), *((0, 1), (1, 1)) * 6)))
#: Two sequences that get five tokens with one call each, one behind three others.
_AT_ONCE = playing(Play(((0, 5), (1, 3), (1, 5)), whole=True))
#: Pools that are tried, and callables for each part.
_POOLS, _MOST = 4, 4
#: What says how much of a sequence counts: of one, and of each of several.
_OF_ONE = {"tables": "table", "totals": "length", "positions": "position"}
_OF_EACH = {"table": "tables", "length": "totals", "position": "positions"}
_OF_LAYERS = {"tables": "layer_tables", "totals": "layer_totals"}
#: Arrays that may be wanted as lists.
_LISTED = frozenset({
    "table", "tables", "layer_tables", "slots", "token_blocks", "token_offsets", "totals", "layer_totals",
    "lengths",
})  # fmt: skip


def find(search: Search) -> Option | None:
    """The parts of such a pool, confirmed by a trial; ``None`` where there is none."""
    if not any(_says(form, names) for names in _signatures(search) for form in WRITES):
        return None
    wrong: tuple[Option, Trial] | None = None
    for create in _pools(search):
        found = _settled(search, create)
        if found and found[1].ran and found[1].error <= NEAR:
            return _completed(search, *found)
        wrong = wrong or found
    return _completed(search, *wrong) if wrong else None


def _signatures(search: Search) -> Iterator[list[str]]:
    """The names of the parameters of each callable."""
    for item in callables(search.loaded):
        yield [str(param["name"]) for param in item.params]


def _says(form: Form, names: Sequence[str]) -> bool:
    """Whether parameters say by their names that a call is of a form."""
    means = {param.name for param in form.role.params for name in names if param.means(name)}
    return any(means >= set(line) for line in form.told)


def _pools(search: Search) -> list[Binding]:
    """What is told of blocks and of tokens when it is made."""
    named = matched(search, CREATE, classes=True)
    wanted = ("blocks", "block_size", "head_dim")
    return [replace(one, returns={}) for one in named if all(one.takes(name) for name in wanted)][:_POOLS]


def _settled(search: Search, create: Binding) -> tuple[Option, Trial] | None:
    """What writes to a pool, with what reads it or attends over it."""
    owner: Owner | None = None
    with search.guess():
        owner = Owner.of(search.worker, create, PoolSizes().inputs())
    if owner is None:
        return None
    layers = create.takes("layers")
    read = [*_named(search, (ATTEND,), owner, layers), *_named(search, READS, owner, layers)]

    def options(_search: Search) -> Iterator[Option]:
        writes = _runs(search, create, _named(search, WRITES, owner, layers)) if read else []
        for write, one in itertools.product(writes, read):
            if one.target != write.target:
                yield {"create": create, "append": write, one.role: one}

    # by their names and parameters they are meant so, right or wrong
    return search.settle(Family("paged", options, _GROWN, _readings, lambda *_: True, right=NEAR))


def _named(search: Search, forms: Sequence[Form], owner: Owner, layers: bool) -> list[Binding]:
    """Callables that are of one of these forms by their own names; ``layers``: the pool has some itself."""
    signatures = {f"{i.file}:{i.name}": [str(p["name"]) for p in i.params] for i in callables(search.loaded)}
    found: list[Binding] = []
    for form in forms:
        for binding in matched(search, form.role, owner=owner, stateful=True, on=form.on):
            named = _says(form, signatures[binding.target])
            told = any(all(binding.takes(name) for name in line) for line in form.told)
            # keys and values in one argument are a guess that a pool for either makes better
            if named and told and not any(a.made in ("tuple", "stack") for a in binding.args):
                found.append(binding.handed(table_layer="layer") if layers else binding)
    return found[:_MOST]


def _runs(search: Search, create: Binding, named: Sequence[Binding]) -> list[Binding]:
    """Writes in the forms in which they run, whatever they do."""
    running = []
    for write in (meaning for one in named for meaning in _meanings(one)):
        result = _WRITTEN(search, {"create": create, "append": write})
        if result.ran:
            running.append(write)
        else:
            search.note("paged", f"{write.target} {result.said}")
    return running


def _readings(_search: Search, option: Option) -> Iterator[Option]:
    """What reads what was written, in every form that it may want blocks in."""
    part = "read" if "read" in option else "attend"
    for read in _meanings(option[part]):
        yield {**option, part: read}


def _meanings(binding: Binding) -> Iterator[Binding]:
    """A call in every form, likeliest first: one sequence or several, arrays or lists, orders of axes."""
    for told, layouts in _forms(binding):
        for layout in layouts:
            yield replace(told, layout=layout)
        listed = tuple(replace(a, form="lists") if a.source in _LISTED else a for a in told.args)
        for layout in layouts[:2] if listed != told.args else ():
            yield replace(told, args=listed, layout=layout)


def _forms(binding: Binding) -> Iterator[tuple[Binding, tuple[str, ...]]]:
    """Of what a call is told, and the orders of its axes that go with it."""
    several = ("BNHD", "BHND") if binding.role == "read" else ("BHD", "BNHD", "BHND")
    alone = ("NHD", "HND") if binding.role == "read" else ("HD", "NHD", "HND")
    if not (binding.takes("table") or binding.takes("tables")):
        many = binding.takes("slots") or binding.takes("token_blocks")
        yield binding, (("NHD", "HND") if many else alone)
        yield binding.handed(block="token_blocks", offset="token_offsets", slot="slots"), ("NHD", "HND")
        return
    if binding.role == "append" and not (binding.takes("position") or binding.takes("positions")):
        # how much is stored may be told without what goes in
        yield from _forms(binding.handed(length="position", totals="positions"))
    if binding.takes("table"):
        yield binding.handed(**_OF_ONE), alone
    each = binding.handed(**_OF_EACH)
    if each.takes("lengths") or each.takes("bounds"):
        yield each, ("PHD",)
    if each.takes("table_layer"):
        yield each.handed(**_OF_LAYERS), several
    yield each, several


def _takes_many(search: Search, option: Option) -> Trial:
    """Whether several tokens go in with one call: what is told of each is meant so, right or not."""
    result, many = _AT_ONCE(search, option), option["append_many"]
    of_each = many.takes("slots") or many.takes("token_blocks")
    meant = result.ran and of_each and many.target == option["append"].target
    return Trial(0.0) if meant else result


def _completed(search: Search, option: Option, result: Trial) -> Option:
    """The same with what writes several tokens, and what reads beside what attends, as far as it goes."""
    if not result.right:
        return option
    owner, layers = Owner.of(search.worker, option["create"]), option["create"].takes("layers")
    own = option["append"]
    others = [one for one in _named(search, WRITES, owner, layers) if one.target != own.target]
    several = itertools.chain([own], *map(_meanings, others))
    wide = ({"append_many": replace(one, role="append_many")} for one in several if "N" in one.layout)
    option = option | search.first(option, wide, _takes_many)
    if "read" not in option:
        apart = {name: binding for name, binding in option.items() if name != "attend"}
        reads = itertools.chain(*map(_meanings, _named(search, READS, owner, layers)))
        option = option | search.first(apart, ({"read": read} for read in reads), _GROWN)
    return option
