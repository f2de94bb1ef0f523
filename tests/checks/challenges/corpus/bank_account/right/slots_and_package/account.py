import contextlib
import copy

from .errors import InsufficientFunds


class Account:
    __slots__ = ("owner", "_Account__balance", "_Account__log")

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.__balance = balance
        self.__log = []

    balance = property(lambda self: self.__balance)
    history = property(lambda self: copy.copy(self.__log))

    def __change(self, kind, sign, amount):
        if amount <= 0:
            raise ValueError(amount)
        if self.__balance + sign * amount < 0:
            raise InsufficientFunds(amount, self.__balance)
        self.__balance += sign * amount
        self.__log.append((kind, amount))

    def deposit(self, amount):
        self.__change("deposit", 1, amount)

    def withdraw(self, amount):
        self.__change("withdraw", -1, amount)

    def transfer(self, other, amount):
        self.withdraw(amount)
        other.deposit(amount)

    @contextlib.contextmanager
    def transaction(self):
        before = self.__balance, self.history
        try:
            yield
        except Exception:
            self.__balance, self.__log = before
            raise

    def __lt__(self, other):
        return self.__balance < other.__balance
