# bug: steps after a start all take the position that the prompt ended at
# caught by: incremental_equals_full
import numpy as np


class ChatEngine:
    def __init__(self, n_vocab=44, d_model=24, n_head=4, n_layer=2, seed=9):
        r = np.random.RandomState(seed)
        self.n_head = n_head
        self.table = r.randn(n_vocab, d_model)
        self.maps = r.randn(n_layer, 4, d_model, d_model) / np.sqrt(d_model)
        self.open = {}

    def start(self, prompt):
        """Returns the logits behind the prompt, and the id of its sequence."""
        session = len(self.open)
        self.open[session] = {"past": [None] * len(self.maps), "at": 0}
        logits = self._run(session, np.asarray(prompt))
        self.open[session]["at"] = len(prompt)
        return logits, session

    def step(self, session_id, token):
        return self._run(session_id, np.array([token]))

    def _run(self, session, ids):
        state, count = self.open[session], len(ids)
        at = state["at"] + np.arange(count)
        x = self.table[ids] + np.sin(at[:, None] * np.geomspace(1, 0.01, self.table.shape[1]))
        for n, (wq, wk, wv, wo) in enumerate(self.maps):
            q, k, v = ((x @ w).reshape(count, self.n_head, -1).swapaxes(0, 1) for w in (wq, wk, wv))
            if state["past"][n] is not None:
                k, v = (np.concatenate(pair, axis=1) for pair in zip(state["past"][n], (k, v)))
            state["past"][n] = k, v
            total = k.shape[1]
            scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
            scores = np.where(np.tri(count, total, total - count) > 0, scores, -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + (p / p.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(count, -1) @ wo
        return x[-1] @ self.table.T
