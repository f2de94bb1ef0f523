"""A bare-bones autograd-style Function protocol (no autograd engine behind it)."""


class Context:
    """Carries what forward wants backward to have."""

    def __init__(self):
        self._saved = ()
        self.meta = {}

    def save_for_backward(self, *arrays):
        self._saved = arrays

    @property
    def saved_tensors(self):
        return self._saved


class Function:
    """Subclass with static `forward(ctx, ...)` and `backward(ctx, grad)`.

    `apply` runs forward on a fresh context and hands back (output, ctx).
    `backward` returns one entry per argument of forward, None for those that
    are not differentiable.
    """

    @classmethod
    def apply(cls, *args, **kwargs):
        ctx = Context()
        return cls.forward(ctx, *args, **kwargs), ctx
