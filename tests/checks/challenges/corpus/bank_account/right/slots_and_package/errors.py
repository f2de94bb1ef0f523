class InsufficientFunds(ValueError):
    @property
    def needed(self):
        return self.args[0]

    @property
    def available(self):
        return self.args[1]
