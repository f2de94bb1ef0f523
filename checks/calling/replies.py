"""What a worker may reply: one shape for each request, with bounds on every text, list and number.

The worker is untrusted from the first file that it loads. What does not fit here is a fault of the
submission, told in its words; nothing behind this border meets a reply of another type, a hundred million
items, or megabytes of text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from judge_tui.checks.faults import BadResult
from judge_tui.checks.typed import converted

__all__ = ["MOST_OBJECTS", "affordable", "checked"]

#: Lists and dicts in one reply at most: each takes the engine some 130 bytes, and the sender one.
MOST_OBJECTS = 400_000
#: First bytes of msgpack's lists and dicts. Bytes of numbers and texts look alike: this counts too many.
_OPENING = bytes([*range(0x80, 0xA0), *range(0xDC, 0xE0)])
_OTHERS = bytes(byte for byte in range(256) if byte not in _OPENING)

Name = Annotated[str, msgspec.Meta(max_length=20_000)]
Text = Annotated[str, msgspec.Meta(max_length=80_000)]
Line = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Size = Annotated[int, msgspec.Meta(ge=-1, le=2**62)]
#: A literal of the submission's.
Plain = bool | int | float | Name | None
#: ``[file, line]``.
Place = Annotated[list[Any], msgspec.Meta(max_length=3)] | None
Key = Name | int | bool
Kind = Literal["i", "k", "a", "c"]
Steps = Annotated[list[tuple[Kind, Key]], msgspec.Meta(max_length=64)]


class _Param(TypedDict):
    name: Name
    kind: Name
    default: NotRequired[Plain]
    text: NotRequired[bool]
    annotation: NotRequired[Name]


Params = Annotated[list[_Param], msgspec.Meta(max_length=5000)] | None


class _Function(TypedDict):
    name: Name
    line: Line
    doc: Name
    params: Params
    static: NotRequired[bool]


Functions = Annotated[list[_Function], msgspec.Meta(max_length=50_000)]


class _Class(TypedDict):
    name: Name
    line: Line
    doc: Name
    bases: Annotated[list[Name], msgspec.Meta(max_length=5000)]
    params: Params
    methods: Functions


class _Object(TypedDict):
    name: Name
    type: Name


class _Tree(TypedDict):
    kind: Name
    type: NotRequired[Name]
    dtype: NotRequired[Name]
    shape: NotRequired[Annotated[list[Count], msgspec.Meta(max_length=64)]]
    nbytes: NotRequired[Count]
    value: NotRequired[Plain]
    params: NotRequired[Params]
    count: NotRequired[Count]
    parts: NotRequired[Annotated[list[tuple[Kind, Key, _Tree]], msgspec.Meta(max_length=100)]]


class _Leaf(_Tree):
    path: Steps
    inputs: NotRequired[Annotated[list[Name], msgspec.Meta(max_length=64)]]
    same_as: NotRequired[Count | None]
    base: NotRequired[int]
    base_nbytes: NotRequired[Count]


class _Counters(TypedDict, total=False):
    exp_max_argument: float | None
    exp_at: Place
    exp_elements: Count
    products: Count
    product_elements: Count
    multiply_adds: Count
    elements: Count
    work: Annotated[list[Annotated[list[Any], msgspec.Meta(max_length=3)]], msgspec.Meta(max_length=100)]
    allocations: Count
    largest_allocation: Count
    largest_allocation_at: Place
    invalid_events: Count
    invalid_at: Place
    peak_bytes: Size
    held_bytes: Size
    model_calls: Count
    handed: Name
    seconds: float


class _Raised(TypedDict):
    type: Name
    message: Name
    traceback: Text
    file: NotRequired[Name | None]
    line: NotRequired[Line | None]
    at: NotRequired[Name]
    lacking: NotRequired[Name]
    kinds: NotRequired[Annotated[list[Name], msgspec.Meta(max_length=64)]]


class _Reply(TypedDict, total=False):
    """What every reply may say."""

    printed: Text
    raised: _Raised
    lost: Text
    bad: Text


class _Loaded(_Reply, total=False):
    functions: Functions
    classes: Annotated[list[_Class], msgspec.Meta(max_length=5000)]
    objects: Annotated[list[_Object], msgspec.Meta(max_length=200_000)]
    missing: dict[Name, Annotated[list[Name], msgspec.Meta(max_length=2000)]]
    present: Annotated[list[Name], msgspec.Meta(max_length=100)]


class _Called(_Reply, total=False):
    tree: _Tree
    counters: _Counters


class _Repeated(_Reply, total=False):
    done: Count
    ended: _Raised


class _Described(_Reply, total=False):
    tree: _Tree


class _Settable(_Reply, total=False):
    parts: Annotated[list[tuple[Kind, Key, _Tree]], msgspec.Meta(max_length=5000)]


class _Leaves(_Reply, total=False):
    leaves: Annotated[list[_Leaf], msgspec.Meta(max_length=600)]


class _Footprint(_Reply, total=False):
    bytes: Count


class _Fetched(_Reply, total=False):
    dtype: Name


class _Carried(_Reply, total=False):
    value: bytes


class _Moved(_Reply, total=False):
    moved: bool
    reason: Text


#: Request → what its reply is; of others only what every reply may say is looked at.
_SHAPES: Mapping[str, Any] = {
    "load": _Loaded, "call": _Called, "series": _Repeated, "describe": _Described, "settable": _Settable,
    "leaves": _Leaves, "footprint": _Footprint, "fetch": _Fetched, "move": _Moved,
    "carry": _Carried,
}  # fmt: skip
_SHAPED = frozenset({"array", "list"})
_OF_ARRAYS = frozenset({"shape", "dtype", "nbytes"})
_DTYPE = re.compile(
    r"bool|object|bfloat16|u?int(8|16|32|64)|float(16|32|64|96|128)|complex(64|128|192|256)|[<>=|]?[USVSMmOibfcu?]\d*"
    r"|(datetime64|timedelta64)(\[\w+\])?"
)
#: What a reply has to say where nothing went wrong.
_NEEDED = {"load": ("functions", "classes"), "call": ("tree",), "describe": ("tree",), "leaves": ("leaves",),
           "carry": ("value",)}  # fmt: skip


def affordable(frame: bytes) -> bool:
    """Whether the engine can take a reply apart within its bounds."""
    return len(frame.translate(None, _OTHERS)) <= MOST_OBJECTS


def checked(op: str, reply: Any) -> dict[str, Any]:
    """A reply that is what the request may be answered with.

    Args:
        op: The request.
        reply: Plain data.

    Raises:
        BadResult: It is something else.
    """
    if not isinstance(reply, dict):
        raise BadResult("the worker's reply is malformed")
    try:
        converted(reply, _SHAPES.get(op, _Reply))
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadResult(f"the worker's reply to '{op}' is malformed: {str(error)[:200]}") from error
    if not reply.keys() & {"raised", "lost", "bad"} and any(key not in reply for key in _NEEDED.get(op, ())):
        raise BadResult(f"the worker's reply to '{op}' is malformed: it says nothing of what was asked")
    for index, leaf in enumerate(reply.get("leaves", ()) if op == "leaves" else ()):
        _hold_leaf(index, leaf)
    return reply


def _hold_leaf(index: int, leaf: dict[str, Any]) -> None:
    """Be sure that an entry of a cache says what one of its kind has to, and no type that is none."""
    same = leaf.get("same_as")
    if (leaf["kind"] in _SHAPED and not leaf.keys() >= _OF_ARRAYS) or (same is not None and same >= index):
        raise BadResult("the worker's reply to 'leaves' is malformed: an entry does not fit its kind")
    if "dtype" in leaf and not _DTYPE.fullmatch(leaf["dtype"]):
        # fields of a record are no numbers
        leaf["dtype"] = "object"
