FACTORS = (1.0, 2.0, 3.0)


def close(a, b):
    return abs(a - b) < 1e-12
