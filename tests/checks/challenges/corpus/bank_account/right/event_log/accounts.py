from __future__ import annotations

import dataclasses
import enum
import typing as t


class Kind(str, enum.Enum):
    DEPOSIT = "deposit"
    WITHDRAW = "withdraw"


class BankError(Exception):
    pass


@dataclasses.dataclass
class InsufficientFunds(BankError, ValueError):
    needed: t.Any
    available: t.Any


class _Transaction:
    def __init__(self, account: Account):
        self.account = account

    def __enter__(self):
        self.mark = len(self.account._events)
        return self.account

    def __exit__(self, kind, error, trace):
        if kind is not None:
            del self.account._events[self.mark :]
        return False


class Account:
    def __init__(self, owner: str, balance=0):
        self.owner = owner
        self._start = balance
        self._events: list[tuple[Kind, t.Any]] = []

    @property
    def balance(self):
        total = self._start
        for kind, amount in self._events:
            total = total + amount if kind is Kind.DEPOSIT else total - amount
        return total

    @property
    def history(self):
        return [(kind.value, amount) for kind, amount in self._events]

    def deposit(self, amount):
        if not amount > 0:
            raise ValueError(f"{amount!r} is not positive")
        self._events.append((Kind.DEPOSIT, amount))

    def withdraw(self, amount):
        if not amount > 0:
            raise ValueError(f"{amount!r} is not positive")
        if self.balance < amount:
            raise InsufficientFunds(needed=amount, available=self.balance)
        self._events.append((Kind.WITHDRAW, amount))

    def transfer(self, to: Account, amount):
        self.withdraw(amount)
        to.deposit(amount)

    def transaction(self):
        return _Transaction(self)

    def __lt__(self, other):
        return self.balance < other.balance

    def __gt__(self, other):
        return self.balance > other.balance
