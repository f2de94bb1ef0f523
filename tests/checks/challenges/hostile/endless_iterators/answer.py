import itertools


class Endless(list):
    def __iter__(self):
        return itertools.count()

    def __next__(self):
        return 0

    def __len__(self):
        return 3


def total(numbers):
    return Endless()


def items(count):
    return itertools.count()


def applied(function, value):
    return map(function, itertools.repeat(value))


def refused():
    yield from itertools.repeat("no")


def greeted(name):
    return itertools.cycle("hello " + name)


Box = Endless
