import pytest


class Clock:
    def __init__(self):
        self.now = 1000.0
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.now


@pytest.fixture
def clock():
    return Clock()
