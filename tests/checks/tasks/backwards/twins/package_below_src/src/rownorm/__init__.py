from rownorm.rules import backward, forward

__all__ = ["backward", "forward"]
