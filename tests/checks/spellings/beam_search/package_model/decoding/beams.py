class Pool:
    """Live and finished beams that compete for the same places."""

    def __init__(self, width, alpha, eos):
        self.width, self.alpha, self.eos = width, alpha, eos
        self.members = {(): 0.0}

    @property
    def live(self):
        return [tokens for tokens in self.members if not tokens or tokens[-1] != self.eos]

    def score(self, tokens):
        return self.members[tokens] / max(1, len(tokens)) ** self.alpha

    def scores(self):
        return [self.score(tokens) for tokens in self.members]

    def advance(self, rows):
        grown = {t: s for t, s in self.members.items() if t not in rows}
        for tokens, row in rows.items():
            for token in sorted(range(len(row)), key=lambda t: -row[t])[: 2 * self.width]:
                grown[(*tokens, token)] = self.members[tokens] + float(row[token])
        self.members = grown
        kept = sorted(grown, key=self.score, reverse=True)[: self.width]
        self.members = {tokens: grown[tokens] for tokens in kept}

    def answer(self):
        return [{"ids": list(tokens), "score": self.score(tokens)} for tokens in self.members]
