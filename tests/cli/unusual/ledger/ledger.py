"""Keys and values of a conversation as a ledger: an account per head of a sequence, an entry per token."""

import numpy as np


class Ledger:
    def __init__(self, accounts):
        """So many accounts, all of them empty."""
        self.entries = {account: [] for account in range(accounts)}

    def post(self, account, debit, credit):
        """Enter tokens: debit has their keys and credit their values, (D, T) each."""
        self.entries[account].append((debit, credit))

    def audit(self, account, question):
        """What an account answers to one query, a vector of D numbers: the values weighted by
        softmax(q k / sqrt D)."""
        keys, values = (np.hstack(part) for part in zip(*self.entries[account], strict=True))
        marks = question @ keys / np.sqrt(len(question))
        shares = np.exp(marks - marks.max())
        return values @ (shares / shares.sum())
