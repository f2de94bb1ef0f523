"""What a judge says in a matchup, part by part: who wins and by how much, what decides, each criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from judge_tui.judging.matchup import Criterion, Matchup
from judge_tui.judging.merging import Key, Merged, Parts, Side, merged
from judge_tui.judging.versions import Differing, matchup_differences

__all__ = ["MATCHUP", "matchup_clash", "merged_matchups"]

_WORDS = ("key_differentiator", "declined")


def _named(matchup: Matchup) -> dict[str, Criterion]:
    """Criteria by what tells them apart: what they were proposed from, or the name, and which one of that."""
    found: dict[str, Criterion] = {}
    for one in matchup.criteria:
        wanted = name = one.basis or one.name
        again = 1
        while name in found:
            again += 1
            name = f"{wanted}\0{again}"
        found[name] = one
    return found


def _keys(matchups: Iterable[Matchup]) -> Iterable[Key]:
    yield ("winner",)
    yield from ((name,) for name in _WORDS)
    names = dict.fromkeys(name for matchup in matchups for name in _named(matchup))
    yield from (("criterion", name) for name in names)


def _said(matchup: Matchup, key: Key) -> Any:
    kind, name = key[0], key[-1]
    if kind == "winner":
        # a margin is that of a winner, who was decided on some files
        return matchup.winner, matchup.margin, matchup.submissions
    return _named(matchup).get(name) if kind == "criterion" else getattr(matchup, kind)


def _put(matchup: Matchup, key: Key, said: Any) -> Matchup:
    kind, name = key[0], key[-1]
    if kind == "winner":
        winner, margin, submissions = said
        return replace(matchup, winner=winner, margin=margin, submissions=submissions)
    if kind != "criterion":
        return replace(matchup, **{kind: said})
    criteria = {**_named(matchup), name: said}
    return replace(matchup, criteria=tuple(one for one in criteria.values() if one is not None))


def _same(key: Key, one: Any, other: Any) -> bool:
    if key == ("winner",) and None not in (one, other):
        return bool(one[:2] == other[:2])
    return bool(one == other)


#: How a matchup is taken apart.
MATCHUP: Parts[Matchup] = Parts(_keys, _said, _put, _same)


def merged_matchups(
    base: Matchup | None, ours: Matchup, theirs: Matchup, chosen: Mapping[Key, Side] | None = None
) -> Merged[Matchup]:
    """Two versions of a matchup in one; the arguments are those of :func:`merged`."""
    # one that nobody has begun says nothing yet
    found = merged(MATCHUP, base or Matchup(ours.models), ours, theirs, chosen)
    there = _named(found.value)
    # lines that are looked at stay where they are, as far as they can
    order = [name for name in dict.fromkeys((*_named(ours), *there)) if name in there]
    return Merged(replace(found.value, criteria=tuple(there[name] for name in order)), found.clashes)


def matchup_clash(key: Key, ours: Matchup, theirs: Matchup, who: Callable[[str | None], str]) -> Differing:
    """What two matchups say of what both have changed.

    Args:
        key: What that is.
        ours: The version that is called *here*.
        theirs: The version that is called *there*.
        who: Says who is ahead.
    """
    found = list(matchup_differences(_put(theirs, key, _said(ours, key)), theirs, who))
    return found[0] if found else Differing("proposals that were turned down", "others", "others")
