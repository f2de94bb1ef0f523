from decimal import Decimal

import pytest
from submission import Account, InsufficientFunds


@pytest.fixture
def account():
    return Account("ada", 100)


def test_deposit_and_withdraw(account):
    account.deposit(50)
    account.withdraw(30)
    assert account.balance == 120
    assert account.owner == "ada"


def test_decimals_stay_exact():
    account = Account("ada", Decimal("0.10"))
    account.deposit(Decimal("0.20"))
    assert account.balance == Decimal("0.30")
    assert isinstance(account.balance, Decimal)


@pytest.mark.parametrize("amount", [0, -1])
@pytest.mark.parametrize("what", ["deposit", "withdraw"])
def test_amounts_are_positive(account, what, amount):
    with pytest.raises(ValueError):
        getattr(account, what)(amount)
    assert account.balance == 100


def test_more_than_there_is(account):
    with pytest.raises(InsufficientFunds) as caught:
        account.withdraw(150)
    assert caught.value.needed == 150
    assert caught.value.available == 100
    assert issubclass(InsufficientFunds, ValueError)
    assert account.balance == 100


def test_all_that_there_is(account):
    account.withdraw(100)
    assert account.balance == 0


@pytest.mark.parametrize("amount", [1, Decimal("0.01")])
def test_the_smallest_amounts(amount):
    account = Account("ada")
    account.deposit(amount)
    account.withdraw(amount)
    assert account.balance == 0
    assert account.history == [("deposit", amount), ("withdraw", amount)]


def test_transfer(account):
    other = Account("bob")
    account.transfer(other, 40)
    assert (account.balance, other.balance) == (60, 40)


def test_transfer_of_too_much_changes_nothing(account):
    other = Account("bob", 5)
    with pytest.raises(InsufficientFunds):
        account.transfer(other, 101)
    assert (account.balance, other.balance) == (100, 5)
    assert other.history == []


def test_the_balance_cannot_be_set(account):
    with pytest.raises(AttributeError):
        account.balance = 10**6
    assert account.balance == 100


def test_history_is_a_copy(account):
    account.deposit(1)
    account.history.append(("deposit", 5))
    account.withdraw(2)
    assert account.history == [("deposit", 1), ("withdraw", 2)]


def test_a_transaction_is_undone(account):
    with pytest.raises(RuntimeError, match="stop"):
        with account.transaction():
            account.withdraw(60)
            account.deposit(5)
            raise RuntimeError("stop")
    assert account.balance == 100
    assert account.history == []


def test_a_transaction_that_ends_well_stays(account):
    with account.transaction():
        account.withdraw(60)
    assert account.balance == 40


def test_accounts_compare(account):
    poor = Account("bob", 1)
    assert poor < account
    assert poor != account
    assert sorted([account, poor])[0].owner == "bob"
    assert max(account, poor).owner == "ada"
