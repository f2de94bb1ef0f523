"""Objects of classes below built-in containers: they keep their methods, and equal what they hold."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Judged, told

_SUBMISSION = """
class Box(list):
    put = list.append
def box(*more): return Box([7, *more])
class Path(tuple):
    def length(self): return len(self)
def path(): return Path((1, 2))
class Low(dict):
    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)
    def first(self): return next(iter(self))
class Tags(set):
    tag = set.add
def tags(): return Tags()
class Shelf:
    def __init__(self, books): self.books = books
    def first(self): return self.books[0]
def shelved(books): return {"here": books}
class Own(list):
    def __eq__(self, other): return True
    def more(self): pass
def own(): return Own()
"""

_TESTS = """
import pytest, submission, collections.abc
from submission import Box, Path, Low
def test_box():
    box = submission.box()
    assert box == [7] and [7] == box and not box != [7] and box != [8]
    box.put(3)
    assert box == [7, 3] and len(box) == 2 and list(box) == [7, 3] and box[-1] == 3
    assert isinstance(box, list) and isinstance(box, Box) and isinstance(box, collections.abc.Sequence)
    assert type(box) is Box and box == submission.box(3)
    assert sorted(box) == [3, 7] and {"a": box} == {"a": [7, 3]}
def test_path():
    p = submission.path()
    assert p == (1, 2) and p.length() == 2 and isinstance(p, tuple) and {p: 1}[(1, 2)] == 1 and p in {(1, 2)}
def test_made():
    b = Box([1]); b.put(2); assert b == [1, 2]
    c = Box(); c.append(b); assert c == [[1, 2]]
def test_low():
    low = Low(); low["A"] = 1
    assert low.first() == "a" and low == {"a": 1} and isinstance(low, dict)
    s = submission.tags(); s.tag("x"); assert s == {"x"} and "x" in s and s | {"y"} == {"x", "y"}
def test_within_a_call_it_is_the_same_object_and_afterwards_a_copy():
    books = ["a"]
    assert submission.shelved(books)["here"] is books
    shelf = submission.Shelf(books)
    books[0] = "b"
    shelf.books.append("c")
    assert shelf.first() == "a" and shelf.books == ["a"]
def test_own():
    assert submission.own() == [1]
"""


def test_containers_keep_their_methods_and_equal_what_they_hold(judged: Judged) -> None:
    outcomes = judged(_TESTS, _SUBMISSION, process="file")
    own = outcomes.pop("test_own")
    assert {each.verdict for each in outcomes.values()} == {Verdict.PASS}, told(outcomes)
    assert own.verdict is Verdict.WARN, own.summary
