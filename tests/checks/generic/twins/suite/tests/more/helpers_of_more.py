from scale import scale_forward


def twice(x):
    return scale_forward(x, 2)[0]
