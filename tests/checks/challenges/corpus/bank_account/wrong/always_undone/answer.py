from contextlib import contextmanager
from functools import total_ordering


class InsufficientFunds(ValueError):
    def __init__(self, needed, available):
        super().__init__(f"needed {needed}, available {available}")
        self.needed = needed
        self.available = available


@total_ordering
class Base:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance
        self._history = []

    @property
    def balance(self):
        return self._balance

    @property
    def history(self):
        return list(self._history)

    def _check(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")

    def deposit(self, amount):
        self._check(amount)
        self._balance += amount
        self._history.append(("deposit", amount))

    def withdraw(self, amount):
        self._check(amount)
        if amount > self._balance:
            raise InsufficientFunds(amount, self._balance)
        self._balance -= amount
        self._history.append(("withdraw", amount))

    def transfer(self, other, amount):
        self.withdraw(amount)
        other.deposit(amount)

    @contextmanager
    def transaction(self):
        saved = self._balance, list(self._history)
        try:
            yield self
        except BaseException:
            self._balance, self._history = saved
            raise

    def __eq__(self, other):
        return isinstance(other, Account) and self.balance == other.balance

    def __lt__(self, other):
        return self.balance < other.balance

    __hash__ = None


class Account(Base):
    @contextmanager
    def transaction(self):
        saved = self._balance, list(self._history)
        try:
            yield self
        finally:
            self._balance, self._history = saved
