import pytest
from submission import RateLimiter


def test_so_many_and_no_more(clock):
    limiter = RateLimiter(3, 10.0, clock)
    assert [limiter.allow("a") for _ in range(5)] == [True, True, True, False, False]


def test_the_window_slides(clock):
    limiter = RateLimiter(2, 10.0, clock)
    assert limiter.allow("a")
    clock.now += 6
    assert limiter.allow("a")
    clock.now += 5
    assert limiter.allow("a")
    assert not limiter.allow("a")


def test_at_the_end_of_the_window_it_counts_no_more(clock):
    limiter = RateLimiter(1, 10.0, clock)
    assert limiter.allow("a") is True
    clock.now += 9.5
    assert limiter.allow("a") is False
    clock.now += 0.5
    assert limiter.allow("a") is True


def test_what_is_refused_does_not_count(clock):
    limiter = RateLimiter(1, 10.0, clock)
    limiter.allow("a")
    clock.now += 9
    assert not limiter.allow("a")
    clock.now += 2
    assert limiter.allow("a")


def test_keys_are_apart(clock):
    limiter = RateLimiter(1, 10.0, clock)
    assert limiter.allow("a") and limiter.allow("b") and not limiter.allow("a")


def test_retry_after(clock):
    limiter = RateLimiter(2, 10.0, clock)
    assert limiter.retry_after("a") == 0
    limiter.allow("a")
    clock.now += 4
    limiter.allow("a")
    assert limiter.retry_after("a") == pytest.approx(6.0)
    clock.now += 5.75
    assert limiter.retry_after("a") == pytest.approx(0.25)
    clock.now += 0.25
    assert limiter.retry_after("a") == 0


def test_asking_when_counts_not(clock):
    limiter = RateLimiter(1, 10.0, clock)
    limiter.retry_after("a")
    assert limiter.allow("a") is True


def test_the_clock_is_asked_each_time(clock):
    limiter = RateLimiter(1, 10.0, clock)
    limiter.allow("a")
    before = clock.asked
    limiter.allow("a")
    assert clock.asked > before


def test_an_error_of_the_clock_is_the_callers():
    def clock():
        raise RuntimeError("no time")

    limiter = RateLimiter(1, 10.0, clock)
    with pytest.raises(RuntimeError, match="no time"):
        limiter.allow("a")
