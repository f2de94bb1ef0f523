# bug: a page is named once it is full, and keeps that name when its last tokens are taken back and others come
# caught by: sharing
# only: sharing, growth
import numpy as np

PAGE = 4


class Page:
    def __init__(self, layers, width):
        self.rows, self.users, self.name = np.zeros((layers, PAGE, 2, width)), 0, None


class Session:
    def __init__(self, model):
        self.model, self.tokens, self.pages, self.names = model, [], [], []

    def step(self, token):
        return self.model._run(self, [token])[-1]

    def rollback(self, n):
        keep = len(self.tokens) - n
        if keep < 1:
            raise ValueError("no token would be left")
        kept = -(-keep // PAGE)
        for page in self.pages[kept:]:
            self.model._drop(page)
        del self.tokens[keep:], self.pages[kept:]

    def close(self):
        for page in self.pages:
            self.model._drop(page)
        self.pages = []


class PagedModel:
    def __init__(self, vocab=40, width=16, layers=2, pages=40, seed=1):
        draw = np.random.default_rng(seed)
        self.words, self.width = draw.normal(size=(vocab, width)), width
        self.layers = draw.normal(size=(layers, 4, width, width)) / np.sqrt(width)
        self.free, self.known = [Page(layers, width) for _ in range(pages)], {}

    def start(self, prompt):
        session, prompt = Session(self), [int(t) for t in prompt]
        while len(session.tokens) + PAGE < len(prompt):
            name = tuple(prompt[: len(session.tokens) + PAGE])
            if name not in self.known:
                break
            page = self.known[name]
            if not page.users:
                self.free.remove(page)
            page.users += 1
            session.pages.append(page)
            session.names.append(name)
            session.tokens = [*name]
        return session, self._run(session, prompt[len(session.tokens) :])[-1]

    def _drop(self, page):
        page.users -= 1
        if not page.users:
            self.free.append(page)

    def _page(self, session, number):
        if number < len(session.pages):
            page = session.pages[number]
            if page.users == 1 and page.name is None:
                return page
        if not self.free:
            raise MemoryError("every page is in use")
        fresh = self.free.pop(0)
        if fresh.name is not None:
            del self.known[fresh.name]
        fresh.users, fresh.name = 1, None
        if number < len(session.pages):
            fresh.rows[:] = session.pages[number].rows
            self._drop(session.pages[number])
            session.pages[number] = fresh
        else:
            session.pages.append(fresh)
        return fresh

    def _run(self, session, new):
        start, end = len(session.tokens), len(session.tokens) + len(new)
        place = np.arange(start, end)
        x = self.words[new] + np.sin(place[:, None] / (1 + np.arange(self.width)))
        for number in range(start // PAGE, -(-end // PAGE)):
            self._page(session, number)
        for layer, (wq, wk, wv, wo) in enumerate(self.layers):
            for row, kv in zip(place, np.stack([x @ wk, x @ wv], 1)):
                session.pages[row // PAGE].rows[layer, row % PAGE] = kv
            k, v = np.concatenate([page.rows[layer] for page in session.pages])[:end].transpose(1, 0, 2)
            scores = np.where(np.arange(end) <= place[:, None], x @ wq @ k.T / np.sqrt(self.width), -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + p / p.sum(-1, keepdims=True) @ v @ wo
        for token in new:
            session.tokens.append(int(token))
            if len(session.tokens) % PAGE == 0 and len(session.names) < len(session.tokens) // PAGE:
                session.names.append(tuple(session.tokens))
            done, over = divmod(len(session.tokens) - 1, PAGE)
            if done and not over:
                self._publish(session.pages[done - 1], session.names[done - 1])
        return x @ self.words.T

    def _publish(self, page, name):
        if name not in self.known and page.name is None:
            page.name, self.known[name] = name, page
