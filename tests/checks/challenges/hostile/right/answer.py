def total(numbers):
    return sum(numbers)


def items(count):
    yield from range(count)


def applied(function, value):
    return function(value)


def refused():
    raise ValueError("no")


def greeted(name):
    return f"hello {name}"


class Box(list):
    def put(self, item):
        self.append(item)

    def get(self):
        return self.pop()
