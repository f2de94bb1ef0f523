"""Six challenges as people write them: right answers pass, wrong ones fail by the test that sees it."""

from __future__ import annotations

from judge_tui.checks.verdict import Verdict

from .conftest import Judged, told

_TESTS = {
    "tests/test_lru.py": """
        import pytest
        from submission import LRUCache

        def test_least_recently_used_goes_first():
            cache = LRUCache(2)
            cache.put("a", 1), cache.put("b", 2), cache.get("a"), cache.put("c", 3)
            assert cache.get("b") is None and cache.get("a") == 1

        def test_capacity_is_positive():
            with pytest.raises(ValueError):
                LRUCache(0)
        """,
    "tests/test_intervals.py": """
        import pytest
        from submission import schedule

        @pytest.mark.parametrize("meetings, most", [([(1, 9), (2, 3), (3, 4)], 2), ([], 0), ([(5, 9)], 1)])
        def test_as_many_meetings_as_can_be(meetings, most):
            chosen = schedule(meetings)
            assert len(chosen) == most and all(a[1] <= b[0] for a, b in zip(chosen, chosen[1:]))
        """,
    "tests/test_parser.py": """
        import pytest
        from submission import ParseError, parse

        def test_precedence_and_parentheses():
            assert parse("1+2*(3-1)") == 5 and parse("2-3-4") == -5

        def test_an_error_tells_where():
            with pytest.raises(ParseError, match="position 2") as error:
                parse("1+*2")
            assert error.value.position == 2 and isinstance(error.value, ValueError)
        """,
    "tests/test_limiter.py": """
        from submission import RateLimiter

        def test_a_window_that_slides():
            now = [0.0]
            limiter = RateLimiter(2, per=10.0, clock=lambda: now[0])
            assert limiter.allow() and limiter.allow() and not limiter.allow()
            now[0] = 10.5
            assert limiter.allow() is True
        """,
    "tests/test_queue.py": """
        import threading
        from submission import BoundedQueue

        def test_get_waits_for_put():
            queue, got = BoundedQueue(1), []
            reader = threading.Thread(target=lambda: got.extend([queue.get(), queue.get()]))
            reader.start()
            queue.put("a"), queue.put("b")
            reader.join()
            assert got == ["a", "b"]
        """,
    "tests/test_median.py": """
        from hypothesis import given, settings, strategies as st
        import statistics
        from submission import StreamingMedian

        @settings(max_examples=20)
        @given(st.lists(st.integers(-100, 100), min_size=1, max_size=9))
        def test_median_of_what_came_so_far(numbers):
            median = StreamingMedian()
            for number in numbers:
                median.add(number)
            assert median.value == statistics.median(numbers)
        """,
}

_RIGHT = """
    import bisect, threading
    from collections import OrderedDict, deque

    class LRUCache:
        def __init__(self, capacity):
            if capacity < 1:
                raise ValueError("a capacity is positive")
            self.capacity, self.items = capacity, OrderedDict()
        def get(self, key):
            if key not in self.items:
                return None
            self.items.move_to_end(key)
            return self.items[key]
        def put(self, key, value):
            self.items[key] = value
            self.items.move_to_end(key)
            if len(self.items) > self.capacity:
                self.items.popitem(last=False)

    def schedule(meetings):
        chosen = []
        for start, end in sorted(meetings, key=lambda meeting: meeting[1]):
            if not chosen or chosen[-1][1] <= start:
                chosen.append((start, end))
        return chosen

    class ParseError(ValueError):
        def __init__(self, position):
            super().__init__(f"nothing fits at position {position}")
            self.position = position

    def parse(text):
        at = 0
        def atom():
            nonlocal at
            if text[at:at + 1] == "(":
                at += 1
                value = total()
                at += 1
                return value
            if not text[at:at + 1].isdigit():
                raise ParseError(at)
            at += 1
            return int(text[at - 1])
        def product():
            nonlocal at
            value = atom()
            while text[at:at + 1] == "*":
                at += 1
                value *= atom()
            return value
        def total():
            nonlocal at
            value = product()
            while text[at:at + 1] in ("+", "-") and at < len(text):
                sign = 1 if text[at] == "+" else -1
                at += 1
                value += sign * product()
            return value
        return total()

    class RateLimiter:
        def __init__(self, most, per, clock):
            self.most, self.per, self.clock, self.seen = most, per, clock, deque()
        def allow(self):
            now = self.clock()
            while self.seen and self.seen[0] <= now - self.per:
                self.seen.popleft()
            if len(self.seen) >= self.most:
                return False
            self.seen.append(now)
            return True

    class BoundedQueue:
        def __init__(self, size):
            self.size, self.items, self.changed = size, [], threading.Condition()
        def put(self, item):
            with self.changed:
                self.changed.wait_for(lambda: len(self.items) < self.size)
                self.items.append(item)
                self.changed.notify_all()
        def get(self):
            with self.changed:
                self.changed.wait_for(lambda: self.items)
                self.changed.notify_all()
                return self.items.pop(0)

    class StreamingMedian:
        def __init__(self):
            self.numbers = []
        def add(self, number):
            bisect.insort(self.numbers, number)
        @property
        def value(self):
            half = len(self.numbers) // 2
            return self.numbers[half] if len(self.numbers) % 2 else sum(self.numbers[half - 1:half + 1]) / 2
    """

#: What is another in the wrong answer, and the check that sees it.
_WRONG = {
    "self.items.move_to_end(key)\n            return": "return",
    "if capacity < 1": "if capacity < 0",
    "key=lambda meeting: meeting[1]": "key=lambda meeting: meeting[0]",
    "sign * product()": "product()",
    'f"nothing fits at position {position}"': "position",
    "self.seen[0] <= now - self.per": "False",
    "threading.Condition()": "threading.Condition(threading.Semaphore(0))",
    "if len(self.numbers) % 2 else sum(self.numbers[half - 1:half + 1]) / 2": "",
}


def test_right_answers_pass(judged: Judged) -> None:
    outcomes = judged(_TESTS, _RIGHT)
    assert len(outcomes) == 8
    assert {each.verdict for each in outcomes.values()} == {Verdict.PASS}, told(outcomes)
    assert outcomes["test_as_many_meetings_as_can_be"].summary.startswith("3 parametrizations pass")


def test_wrong_answers_fail(judged: Judged) -> None:
    text = _RIGHT
    for right, wrong in _WRONG.items():
        assert right in text
        text = text.replace(right, wrong)
    outcomes = judged(_TESTS, text, seconds=0.5)
    assert {each.verdict for each in outcomes.values()} == {Verdict.FAIL}, told(outcomes)
    assert "DID NOT RAISE" in outcomes["test_capacity_is_positive"].summary
    assert "took longer than 0.5 s" in outcomes["test_get_waits_for_put"].summary
    evicted = outcomes["test_least_recently_used_goes_first"].evidence[0]
    assert evicted.note == "tests/test_lru.py:8"
    assert evicted.file == "answer.py"
    assert "cache.get" in evicted.output
