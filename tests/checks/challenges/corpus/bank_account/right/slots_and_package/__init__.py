from .account import Account
from .errors import InsufficientFunds

__all__ = ["Account", "InsufficientFunds"]
