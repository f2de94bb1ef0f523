class Long(list):
    def __len__(self):
        return 10**9

    def __getitem__(self, index):
        return 0

    def __iter__(self):
        return (0 for _ in range(10**9))


class Lazy:
    __len__ = Long.__len__
    __getitem__ = Long.__getitem__


class Shape(tuple):
    __len__ = Long.__len__
    __iter__ = Long.__iter__


total = lambda numbers: Long([1, 2, 3])
items = lambda count: Lazy()
applied = lambda function, value: function(Shape())
refused = lambda: Long()
greeted = lambda name: Lazy()
Box = Long
