# style: a store of pages for all layers; a handle per sequence, one call per token for all layers, equal pages shared
# passes: paged, incremental_equals_full, gqa, capacity, isolation, variable_lengths, cache_size_minimality
"""KvStore: a paged key/value store with content-addressed sharing of full pages.

    page pool   float32[pages][2][layers][kv_heads][page_size][head_dim]      (0 = key, 1 = value)

* A page is *open* while it fills up; it belongs to one sequence and is the only thing that is ever written.
* A page that is full is *sealed*.  If a sealed page with the same bits exists already, the new one is dropped
  and the old one gets one more reference, so equal prompts cost their pages once.
* A sealed page whose last reference goes stays *warm*: it still can be found by content, and is recycled (oldest
  first) when no cold page is left.  pages_available() counts warm pages, since any of them may be had at once.
"""
import hashlib
from collections import OrderedDict
import numpy as np


class OutOfPages(RuntimeError):
    pass


class KvStore:
    def __init__(self, num_pages, page_size, num_layers, num_kv_heads, head_dim):
        self._pool = np.zeros((num_pages, 2, num_layers, num_kv_heads, page_size, head_dim), np.float32)
        self._page_size = page_size
        self._cold = list(range(num_pages - 1, -1, -1))
        self._warm = OrderedDict()          # page -> None, oldest first
        self._refs = [0] * num_pages
        self._digest_of = [None] * num_pages
        self._page_of = {}                  # digest -> sealed page
        self._pages = {}                    # handle -> list of pages
        self._length = {}
        self._next = 100                    # ids are never used twice

    # -- life of a sequence
    def create_sequence(self):
        h = self._next
        self._next += 1
        self._pages[h], self._length[h] = [], 0
        return h

    def release_sequence(self, seq):
        """Returns True if something was released; releasing twice is harmless and returns False."""
        if seq not in self._pages:
            if isinstance(seq, int) and 100 <= seq < self._next:
                return False
            raise KeyError("no such sequence: %r" % (seq,))
        del self._length[seq]
        for p in self._pages.pop(seq):
            self._drop(p)
        return True

    def size(self, seq):
        self._need(seq)
        return self._length[seq]

    def page_table(self, seq):
        self._need(seq)
        return tuple(self._pages[seq])

    # -- writing
    def append(self, seq, key, value):
        """key, value: [num_layers][num_kv_heads][head_dim], one token."""
        self.append_many(seq, np.asarray(key)[:, :, None], np.asarray(value)[:, :, None])

    def append_many(self, seq, keys, values):
        """keys, values: [num_layers][num_kv_heads][n][head_dim]. Strong guarantee: on an error nothing was written."""
        self._need(seq)
        keys, values = np.asarray(keys), np.asarray(values)
        L, G, ps, D = self._pool.shape[2:]
        n = keys.shape[2] if keys.ndim == 4 else -1
        if keys.shape != (L, G, n, D) or values.shape != keys.shape:
            raise ValueError("expected [%d][%d][n][%d]" % (L, G, D))
        have = self._length[seq]
        if -(-(have + n) // ps) - len(self._pages[seq]) > self.pages_available():
            raise OutOfPages("no room for %d more tokens" % n)
        done = 0
        while done < n:
            at = (have + done) % ps
            if at == 0:
                self._pages[seq].append(self._take())
            page = self._pages[seq][-1]
            m = min(ps - at, n - done)
            self._pool[page, 0, :, :, at:at + m] = keys[:, :, done:done + m]
            self._pool[page, 1, :, :, at:at + m] = values[:, :, done:done + m]
            done += m
            self._length[seq] += m
            if at + m == ps:
                self._pages[seq][-1] = self._seal(page)

    # -- reading
    def gather(self, seq, layer):
        """(K, V), each float32[num_kv_heads][length][head_dim]."""
        self._need(seq)
        n = self._length[seq]
        _, _, _, G, ps, D = self._pool.shape
        x = self._pool[self._pages[seq], :, layer]                    # [pages][2][G][ps][D]
        x = x.transpose(1, 2, 0, 3, 4).reshape(2, G, -1, D)[:, :, :n]
        return x[0], x[1]

    def pages_available(self):
        return len(self._cold) + len(self._warm)

    def stats(self):
        live = {p for t in self._pages.values() for p in t}
        per_token = self._pool[0].nbytes // self._page_size
        tokens = sum(self._length.values())
        return {"bytes_allocated": self._pool.nbytes, "bytes_per_token": per_token, "tokens": tokens, "live_pages": len(live),
                "warm_pages": len(self._warm), "cold_pages": len(self._cold),
                "occupancy": tokens / (len(live) * self._page_size) if live else 0.0}      # over 1 where pages are shared

    # -- pages
    def _need(self, seq):
        if seq not in self._pages:
            raise KeyError("no such sequence: %r" % (seq,))

    def _take(self):
        if self._cold:
            p = self._cold.pop()
        else:
            p, _ = self._warm.popitem(last=False)
            del self._page_of[self._digest_of[p]]
            self._digest_of[p] = None
        self._refs[p] = 1
        return p

    def _seal(self, page):
        digest = hashlib.sha256(self._pool[page].tobytes()).digest()
        twin = self._page_of.get(digest)
        if twin is not None and self._pool[twin].tobytes() == self._pool[page].tobytes():
            self._refs[twin] += 1
            self._warm.pop(twin, None)
            self._drop(page)
            return twin
        if twin is None:
            self._page_of[digest] = page
            self._digest_of[page] = digest
        return page

    def _drop(self, page):
        self._refs[page] -= 1
        if self._refs[page] == 0:
            if self._digest_of[page] is None:
                self._cold.append(page)
            else:
                self._warm[page] = None


def attention(store, seq, layer, query):
    """query: [num_heads][m][head_dim], the newest m tokens of the sequence -> the same shape (float32).

    Works for m = 1 (decode), for a chunk, and for the whole prompt. Head h uses kv head h * kv_heads // num_heads.
    """
    K, V = store.gather(seq, layer)
    query = np.asarray(query, np.float32)
    H, m, D = query.shape
    G, n, _ = K.shape
    if H % G or m > n:
        raise ValueError("bad number of heads or queries")
    pick = np.arange(H) * G // H
    logits = query @ K[pick].transpose(0, 2, 1) * np.float32(D ** -0.5)
    hidden = np.triu(np.ones((m, n), bool), k=n - m + 1)
    logits[:, hidden] = -np.inf
    logits -= logits.max(axis=2, keepdims=True)
    np.exp(logits, out=logits)
    return (logits @ V[pick]) / logits.sum(axis=2, keepdims=True)


def decode_batch(store, seqs, layer, queries):
    """queries: [batch][num_heads][head_dim]; every sequence has its own length."""
    return np.stack([attention(store, s, layer, q[:, None])[:, 0] for s, q in zip(seqs, queries)])
