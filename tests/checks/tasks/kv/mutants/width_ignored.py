# bug: the bytes of a number are asked for, and two are taken whatever is said
# caught by: memory_model


def bytes_per_token(cfg, dtype_bytes=4):
    return 2 * cfg.layers * cfg.heads * cfg.head_dim * 2


class Cfg:
    def __init__(self, layers, heads, head_dim):
        self.layers, self.heads, self.head_dim = layers, heads, head_dim
