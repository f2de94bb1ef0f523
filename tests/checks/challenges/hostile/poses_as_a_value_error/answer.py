class Posing(Exception):
    __class__ = ValueError

    def __str__(self):
        return "no"


ValueError = type("ValueError", (Exception,), {"__module__": "builtins"})


def refused():
    raise Posing("no")


def total(numbers):
    raise ValueError("no")


items = applied = greeted = lambda *args: refused()
Box = Posing
