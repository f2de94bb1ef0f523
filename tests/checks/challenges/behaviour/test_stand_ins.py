"""What a test may do with the submission's objects, and the submission with the test's."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Judged, told

_SUBMISSION = """
import dataclasses, enum, inspect, threading, time, collections, queue
from typing import NamedTuple

LIMIT = 7
class Base:
    shared = []
class CacheError(KeyError):
    def __init__(self, key, code=3):
        super().__init__(key); self.code = code
    def twice(self): return self.code * 2
class Vec(Base):
    def __init__(self, x, y=0): self.x, self.y = x, y
    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)
    def __radd__(self, o): return Vec(self.x + o, self.y)
    def __iadd__(self, o): self.x += o.x; return self
    def __neg__(self): return Vec(-self.x, -self.y)
    def __eq__(self, o): return isinstance(o, Vec) and (self.x, self.y) == (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
    def __repr__(self): return f"Vec({self.x}, {self.y})"
    def __len__(self): return 2
    def __iter__(self): yield self.x; yield self.y
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __setitem__(self, i, v): setattr(self, "xy"[i], v)
    def __delitem__(self, i): setattr(self, "xy"[i], 0)
    def __contains__(self, v): return v in (self.x, self.y)
    def __bool__(self): return bool(self.x or self.y)
    def __lt__(self, o): return self.x < o.x
    def __call__(self, k, *, m=1): return self.x * k * m
    def __enter__(self): self.open = True; return self
    def __exit__(self, t, e, tb): self.open = False; self.seen = t; return t is ZeroDivisionError
    def __round__(self, n=None): return round(self.x, n) if n is not None else round(self.x)
    def __int__(self): return int(self.x)
    def __index__(self): return int(self.x)
    def __float__(self): return float(self.x)
    def __abs__(self): return abs(self.x)
    def __format__(self, spec): return format(self.x, spec)
    @property
    def norm(self): return self.x**2 + self.y**2
    @norm.setter
    def norm(self, v): self.x = v
    @classmethod
    def zero(cls): return cls(0, 0)
    @staticmethod
    def double(n): return 2 * n
class Plain: pass
class Ordered(collections.OrderedDict):
    def first(self): return next(iter(self))
    def itself(self): return self
class Money(int):
    def doubled(self): return Money(self * 2)
class Loud(int): pass
def ordered(): return Ordered(b=1)
class Sub(Vec): pass
class Color(enum.Enum):
    RED = 1
    GREEN = 2
class Level(enum.IntEnum):
    LOW = 1
@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int
    def plus(self, n): return Frozen(self.x + n)
@dataclasses.dataclass
class Account:
    balance: int = 0
    log: list = dataclasses.field(default_factory=list)
    def deposit(self, n):
        self.balance += n; self.log.append(n)
class Interval(NamedTuple):
    start: int
    end: int
    def length(self): return self.end - self.start
def color(): return Color.RED
def level(): return Level.LOW
def points(): return [Point(1, 2), Point(3)]
def is_point(p): return isinstance(p, Point)
def interval(): return Interval(1, 4)
def gen(n):
    for i in range(n): yield i
def endless():
    i = 0
    while True:
        yield i; i += 1
def returning():
    yield 1
    return "end"
def iterators():
    return {"mapped": map(lambda x: x + 1, [1, 2]), "listed": [iter("ab")], "pairs": zip("a", [1])}
def sort(a): a.sort(); return a
def mutate(d, s, b, nested):
    d["k"] = 1; s.add(9); b[0] = 65; nested[0].append(5)
def fill(a): a[...] = 3
def apply(f, *a, **k): return f(*a, **k)
def consume(it): return list(it)
def fail(key): raise CacheError(key)
def value_error(): raise ValueError("bad value", 3)
def catch(f):
    try: f()
    except Exception as e: return type(e).__name__, str(e)
def rethrow(f): f()
def wrapped(f):
    try: f()
    except Exception as e: raise RuntimeError("outer") from e
def keyed(items, key): return sorted(items, key=key)
def use_obj(o):
    o.count = o.count + 1
    return o.get(3) + o.count
def steal(f):
    out = []
    for name in ("__globals__", "__code__", "gi_frame", "__builtins__", "__self__", "f_globals"):
        try: out.append(str(getattr(f, name)))
        except AttributeError: pass
    return out
def nest(f, n): return f(n)
def views(): d = collections.OrderedDict(b=1, a=2); return d.keys(), d.values(), d.items()
def counter(): return collections.Counter("aab")
def big(): return 2**200, 1j, frozenset([1]), bytearray(b"x"), None, True, 1.5, "t", (1,), {"a": [1]}
def saved(o): return o.save(3)
def takes(f): return len(inspect.signature(f).parameters)
def say(): print("hello there")
def typ(x): return type(x).__name__
def kinds(k, x): return isinstance(x, k)
def make_default(factory): return factory()
def empty_q(): queue.Queue().get_nowait()
def now(clock): return clock() + clock()
"""

_TESTS = """
import inspect, unittest.mock
import pytest, copy, types, queue, collections, functools, operator
import numpy as np
import submission
from submission import *
from submission import Vec, CacheError, Color, Point, Frozen, Account, Interval, Plain, Sub, LIMIT

def test_constants(): assert LIMIT == 7 and submission.LIMIT == 7
def test_arith():
    v = Vec(1, 2)
    assert isinstance(v, Vec)
    assert not isinstance(v, Plain)
    assert isinstance(Sub(1), Vec)
    assert issubclass(Sub, Vec)
    w = v + Vec(3, 4)
    assert (w.x, w.y) == (4, 6) and w == Vec(4, 6) and (-w).x == -4
    assert (5 + v).x == 6
    u = v; v += Vec(1); assert v is u and v.x == 2
    assert len(v) == 2 and list(v) == [2, 2] and v[0] == 2
    v[0] = 9; assert v.x == 9
    del v[0]; assert v.x == 0
    assert 2 in v and 77 not in v and bool(v) and not Vec(0)
    assert Vec(1) < Vec(2) and sorted([Vec(3), Vec(1)])[0].x == 1
    assert Vec(2)(3, m=2) == 12 and callable(Vec(1)) and not callable(Plain())
    assert hash(Vec(1, 2)) == hash(Vec(1, 2)) and len({Vec(1), Vec(1)}) == 1
    assert repr(Vec(1, 2)) == "Vec(1, 2)" and str(Vec(1)) == "Vec(1, 0)" and f"{Vec(1.5):.2f}" == "1.50"
    assert round(Vec(1.26), 1) == 1.3
    assert int(Vec(3)) == 3
    assert [0, 1, 2][Vec(1)] == 1
    assert float(Vec(2)) == 2.0
    assert abs(Vec(-2)) == 2
def test_errors_of_absence():
    with pytest.raises(TypeError): len(Plain())
    with pytest.raises(TypeError): Plain() + 1
    with pytest.raises(TypeError): Plain()()
    with pytest.raises(AttributeError): Plain().nothing
    with pytest.raises(TypeError): Vec()
    assert not hasattr(Plain(), "nothing")
def test_attrs():
    v = Vec(1, 2)
    v.z = 5; assert v.z == 5
    del v.z; assert not hasattr(v, "z")
    assert v.norm == 5; v.norm = 3; assert v.x == 3
    assert Vec.zero().x == 0 and Vec.double(4) == 8 and Vec.shared == []
    assert v.norm.__class__ is int
    assert type(v).__name__ == "Vec" and Vec.__name__ == "Vec"
def test_identity_and_copy():
    a = Account(); l = submission.apply(lambda: a)
    assert l is a
    b = copy.copy(a); assert b is not a
    c = copy.deepcopy(a); c.deposit(3); assert a.balance == 0 and c.balance == 3
def test_with():
    v = Vec(1)
    with v as w:
        assert w is v and v.open
    assert not v.open
    with v: 1 / 0
    with pytest.raises(KeyError):
        with v: raise KeyError(3)
def test_a_named_tuple_of_the_test_is_data():
    made = Interval(2, 5)
    assert made == (2, 5) and made.length() == 3 and isinstance(made, tuple)
def test_below_built_in_classes():
    cache = submission.Ordered()
    cache["b"], cache["a"] = 1, 2
    assert cache.first() == "b" and len(cache) == 2 and "a" in cache and cache["a"] == 2
    assert list(cache) == ["b", "a"] and cache.itself() is cache and cache.pop("b") == 1
    assert submission.ordered().first() == "b" and list(cache.items()) == [("a", 2)]
    money = submission.Money(3)
    assert money.doubled() == 6 and isinstance(money.doubled(), int) and money + 1 == 4
    assert submission.Loud(3) == 3 and isinstance(submission.Loud(3), int)
def test_mock():
    seen = unittest.mock.Mock(return_value=4)
    assert submission.apply(seen, 1, k=2) == 4
    seen.assert_called_once_with(1, k=2)
    seen.save.return_value = 7
    assert submission.saved(seen) == 7 and seen.save.called
def test_large():
    numbers = list(range(50_000, 0, -1))
    assert submission.sort(numbers) is numbers and numbers[:2] == [1, 2]
    assert submission.apply(lambda a: a.sum(), np.ones(200_000)) == 200_000
def test_signature():
    assert list(inspect.signature(submission.apply).parameters) == ["f", "a", "k"]
    assert submission.takes(lambda a, b=1: None) == 2
def test_enum():
    assert submission.color() is Color.RED and Color.RED.value == 1 and Color["GREEN"].name == "GREEN"
    assert [c.name for c in Color] == ["RED", "GREEN"]
    assert len(Color) == 2
    assert Color(2) is Color.GREEN
    assert Color.RED != Color.GREEN
    assert submission.level() == 1 and isinstance(submission.level(), int)
def test_records():
    ps = submission.points()
    assert ps[0].x == 1 and ps == [Point(1, 2), Point(3, 0)] and isinstance(ps[0], Point)
    assert submission.is_point(ps[0]) and submission.is_point(Point(5))
    f = Frozen(2); assert f.x == 2 and f.plus(3) == Frozen(5)
    i = submission.interval()
    assert i == (1, 4) and i.start == 1 and i.length() == 3
    assert isinstance(i, tuple) and isinstance(i, Interval)
    a = Account(); a.deposit(4); assert a.balance == 4 and a.log == [4] and a == Account(4, [4])
def test_generators():
    g = submission.gen(3)
    assert isinstance(g, types.GeneratorType) and next(g) == 0 and list(g) == [1, 2]
    with pytest.raises(StopIteration): next(g)
    def outer(): yield (yield from submission.returning())
    assert list(outer()) == [1, "end"]
    held = submission.iterators()
    assert list(held["mapped"]) == [2, 3] and next(held["listed"][0]) == "a"
    assert dict(held["pairs"]) == {"a": 1}
    it = submission.endless(); assert [next(it) for _ in range(4)] == [0, 1, 2, 3]
    assert submission.consume(x * x for x in range(3)) == [0, 1, 4]
def test_updates():
    a = [3, 1, 2]; r = submission.sort(a); assert a == [1, 2, 3] and r is a
    d, s, b, n = {}, set(), bytearray(b"xy"), [[], 1]
    inner = n[0]
    submission.mutate(d, s, b, n)
    assert d == {"k": 1} and s == {9} and b == b"Ay" and inner == [5] and n[0] is inner
    x = np.zeros((2, 2)); submission.fill(x); assert (x == 3).all()
    q = collections.deque([2, 1])
    assert submission.apply(lambda v: v, q) == q
def test_callbacks():
    now = [5]
    assert submission.now(lambda: now[0]) == 10
    assert submission.keyed(["bb", "a"], len) == ["a", "bb"]
    assert submission.keyed([(1, 2), (0, 3)], operator.itemgetter(1)) == [(1, 2), (0, 3)]
    class Helper:
        count = 0
        def get(self, n): return n * 10
    h = Helper(); assert submission.use_obj(h) == 31 and h.count == 1
    assert submission.make_default(list) == [] and submission.kinds(int, 3) and submission.typ(3) == "int"
    assert submission.apply(functools.partial(max, 3), 5) == 5
    assert submission.apply(h.get, 2) == 20
    assert isinstance(submission.apply(Helper), Helper)
def test_nothing_to_steal():
    secret = 3
    assert submission.steal(lambda: secret) == []
    assert submission.steal(x for x in []) == []
def test_nesting():
    def down(n): return 0 if n == 0 else 1 + submission.nest(down, n - 1)
    assert down(14) == 14
    with pytest.raises(RecursionError): down(40)
def test_exceptions():
    with pytest.raises(CacheError, match="k") as e: submission.fail("k")
    assert e.value.args == ("k",) and e.value.code == 3 and e.value.twice() == 6
    with pytest.raises(KeyError): submission.fail("k")
    with pytest.raises(ValueError, match="bad") as e: submission.value_error()
    assert e.value.args == ("bad value", 3) and type(e.value) is ValueError
    with pytest.raises(queue.Empty): submission.empty_q()
    class Mine(Exception): pass
    m = Mine("mine")
    def boom(): raise m
    assert submission.catch(boom) == ("Mine", "mine")
    with pytest.raises(Mine) as e: submission.rethrow(boom)
    assert e.value is m
    with pytest.raises(RuntimeError) as e: submission.wrapped(boom)
    assert e.value.__cause__ is m
    err = CacheError("z"); assert isinstance(err, CacheError) and err.code == 3
def test_values():
    numbers = (2**200, 1j, frozenset([1]), bytearray(b"x"), None, True, 1.5)
    assert submission.big() == (*numbers, "t", (1,), {"a": [1]})
    k, v, i = submission.views()
    assert list(k) == ["b", "a"] and list(v) == [1, 2] and list(i) == [("b", 1), ("a", 2)] and k == {"a", "b"}
    assert submission.counter() == {"a": 2, "b": 1}
def test_prints(capsys):
    submission.say(); assert capsys.readouterr().out == "hello there\\n"
def test_monkeypatch(monkeypatch):
    monkeypatch.setattr(submission, "LIMIT", 8); assert submission.LIMIT == 8
    monkeypatch.setattr("submission.time.time", lambda: 42.0); assert submission.time.time() == 42.0
    monkeypatch.setattr(Vec, "double", lambda self, n: n); assert Vec(1).double(3) == 3
@pytest.mark.parametrize("n", [1, 2, 3])
def test_rows(n): assert list(submission.gen(n)) == list(range(n))
@pytest.fixture
def vec(): return Vec(4, 4)
def test_fixture(vec, tmp_path): assert vec.x == 4; (tmp_path / "x").write_text("a")
def test_skip(): pytest.skip("no")
@pytest.mark.xfail(reason="known")
def test_xfail(): assert submission.apply(lambda: 1) == 2
class TestGroup:
    def test_in(self): assert Vec(1).x == 1
"""


def test_a_test_works_as_if_no_border_were_there(judged: Judged) -> None:
    outcomes = judged(_TESTS, _SUBMISSION, process="file")
    skipped = {name for name, each in outcomes.items() if each.verdict is Verdict.SKIP}
    assert skipped == {"test_skip", "test_xfail"}, told(outcomes)
    assert {each.verdict for name, each in outcomes.items() if name not in skipped} == {Verdict.PASS}, told(
        outcomes
    )


_MEETING = """
import threading, pytest, submission
from submission import Refused

@pytest.mark.parametrize("row", range(6))
def test_meeting(row):
    seen = []
    def wait():
        try: submission.refuse()
        except Refused: seen.append(row)
    threads = [threading.Thread(target=wait) for _ in range(6)]
    for thread in threads: thread.start()
    submission.EVENT.set()
    for thread in threads: thread.join()
    assert seen == [row] * 6
"""


def test_threads_that_meet_a_class_at_once_meet_the_same(judged: Judged) -> None:
    submission = """
import threading
class Refused(Exception): pass
EVENT = threading.Event()
def refuse():
    EVENT.wait()
    raise Refused
"""
    (found,) = judged(_MEETING, submission).values()
    assert found.verdict is Verdict.PASS, found.summary
