import queue as standard
import threading
import time

import pytest
from submission import BoundedQueue, Closed


def started(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    return threads


def joined(threads):
    for thread in threads:
        thread.join(2.0)
    assert not any(thread.is_alive() for thread in threads), "somebody waits for ever"


def test_first_in_first_out():
    queue = BoundedQueue(3)
    for item in "abc":
        queue.put(item)
    assert len(queue) == 3
    assert [queue.get() for _ in range(3)] == ["a", "b", "c"]


def test_get_waits_for_put():
    queue, got = BoundedQueue(1), []
    threads = started(lambda: got.extend(queue.get() for _ in range(3)))
    time.sleep(0.05)  # so that it waits
    for item in range(3):
        queue.put(item)
    joined(threads)
    assert got == [0, 1, 2]


def test_full_after_a_while():
    queue = BoundedQueue(1)
    queue.put(1)
    began = time.monotonic()
    with pytest.raises(standard.Full):
        queue.put(2, timeout=0.2)
    assert time.monotonic() - began > 0.19, "it did not wait so long"
    assert queue.get() == 1


def test_empty_after_a_while():
    queue = BoundedQueue(1)
    began = time.monotonic()
    with pytest.raises(standard.Empty):
        queue.get(timeout=0.2)
    assert time.monotonic() - began > 0.19, "it did not wait so long"


def test_none_is_an_item():
    queue = BoundedQueue(2)
    queue.put(None)
    assert queue.get(timeout=0.1) is None


def test_nothing_is_lost_among_many():
    queue, got, lock = BoundedQueue(2), [], threading.Lock()

    def produce(start):
        for item in range(start, start + 8):
            queue.put(item)

    def consume():
        for _ in range(8):
            item = queue.get()
            with lock:
                got.append(item)

    joined(started(*(lambda s=s: produce(s) for s in (0, 100, 200)), consume, consume, consume))
    assert sorted(got) == [start + item for start in (0, 100, 200) for item in range(8)]


def test_close_wakes_who_waits():
    queue, seen = BoundedQueue(1), []

    def wait():
        try:
            queue.get()
        except Closed:
            seen.append("closed")

    threads = started(wait, wait)
    time.sleep(0.2)  # so that they wait
    queue.close()
    joined(threads)
    assert seen == ["closed", "closed"]


def test_what_is_left_after_close():
    queue = BoundedQueue(3)
    queue.put(1)
    queue.put(2)
    queue.close()
    assert [queue.get(), queue.get()] == [1, 2]
    with pytest.raises(Closed):
        queue.get()
    with pytest.raises(Closed):
        queue.put(3)
