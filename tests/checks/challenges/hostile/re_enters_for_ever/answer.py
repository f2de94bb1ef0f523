class Box:
    def put(self, item):
        self.put(item)

    def get(self):
        return Box().get()

    def __len__(self):
        return len(self)


def applied(function, value):
    while True:
        value = function(value)


def again(value=None):
    return again


class Numbers:
    def __eq__(self, other):
        return self == other

    def __getattr__(self, name):
        return getattr(self, name + "_")


total = greeted = lambda value: Numbers()
items = lambda count: again
refused = lambda: refused()
