def scaled(x, factor):
    return x * factor
