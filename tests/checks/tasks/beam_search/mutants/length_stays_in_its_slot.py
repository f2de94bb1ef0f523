# bug: beams move to other slots with their tokens and scores; their lengths stay where they were
# caught by: length_penalty
# passes: eos_retention, greedy_equivalence, edge_cases
"""Batched beam search, structure-of-arrays flavour.

All beams of all prompts live in a handful of flat planes of shape (P, K):

    cum     float64   accumulated log-probability (never penalised)
    done    bool      the beam has emitted EOS and only keeps its place
    length  int64     generated tokens, EOS included
    toks    int64     (P, K, T) generated tokens, `pad` behind the end

One tick = feed the living, build the (P, K*V + K) score sheet, take the K best per
prompt, permute the planes.  Finished beams stand in the same sheet (last K columns) with
their frozen `cum`, so they fight with the living for slots and are never expanded again.

The sheet is ordered by raw log-probability; the final order is by
cum / length**alpha.  Ties go to the lower sheet column, hence deterministic.

The network is any object with `forward(ids)`; ids is (n, L) int64 and the answer either
(n, V) or (n, L, V) logits.  Rows of unequal context length go in separate calls, so
there is no padding and no attention mask.
"""
import numpy as np

NEG = -np.inf


def log_softmax(z):
    z = np.asarray(z, dtype=np.float64)
    m = z.max(axis=-1, keepdims=True)
    z = z - np.where(np.isfinite(m), m, 0.0)
    with np.errstate(divide="ignore"):
        return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


class World:
    """Planes of every beam in flight."""

    def __init__(self, prompts, width, horizon, pad=-1):
        P = len(prompts)
        self.prompts = [np.asarray(p, dtype=np.int64).reshape(-1) for p in prompts]
        self.P, self.K, self.T = P, width, horizon
        self.cum = np.full((P, width), NEG)
        self.cum[:, 0] = 0.0                      # one seed, the other slots are void
        self.done = np.zeros((P, width), dtype=bool)
        self.length = np.zeros((P, width), dtype=np.int64)
        self.toks = np.full((P, width, horizon), pad, dtype=np.int64)
        self.clock = 0

    @property
    def alive(self):
        return ~self.done & (self.cum > NEG)

    def sense(self, net):
        """Log-probs of the next token for the living: ((n,) p, (n,) k, (n, V))."""
        p, k = np.nonzero(self.alive)
        sizes = np.array([len(self.prompts[i]) for i in p]) + self.clock
        out = None
        for size in np.unique(sizes):
            rows = np.flatnonzero(sizes == size)
            ids = np.stack([np.concatenate([self.prompts[p[r]], self.toks[p[r], k[r], :self.clock]])
                            for r in rows])
            z = np.asarray(net.forward(ids))
            if z.ndim == 3:
                z = z[:, -1, :]
            if out is None:
                out = np.empty((len(p), z.shape[-1]))
            out[rows] = log_softmax(z)
        return p, k, out

    def tick(self, net, eos):
        p, k, lp = self.sense(net)
        V = lp.shape[1]
        P, K = self.P, self.K
        sheet = np.full((P, K, V), NEG)
        sheet[p, k] = self.cum[p, k][:, None] + lp
        frozen = np.where(self.done, self.cum, NEG)
        sheet = np.concatenate([sheet.reshape(P, K * V), frozen], axis=1)

        pick = np.argsort(-sheet, axis=1, kind="stable")[:, :K]
        held = pick >= K * V
        src = np.where(held, pick - K * V, pick // V)
        tok = np.where(held, -1, pick % V)

        # everybody who has not stopped gets one token older
        self.length += ~self.done

        # permute the planes
        lane = np.arange(P)[:, None]
        self.cum = np.take_along_axis(sheet, pick, axis=1)
        self.toks = self.toks[lane, src]
        self.done = self.done[lane, src] | (~held & (tok == eos))
        self.toks[:, :, self.clock] = tok
        self.clock += 1

    def harvest(self, alpha):
        """Per prompt [(tokens, score), ...], best first."""
        age = np.maximum(self.length, 1).astype(np.float64)
        score = self.cum / age ** alpha
        result = []
        for i in range(self.P):
            order = np.argsort(-score[i], kind="stable")
            rows = []
            for j in order:
                if self.cum[i, j] == NEG:
                    continue
                t = self.toks[i, j]
                rows.append((t[t >= 0].tolist(), float(score[i, j])))
            result.append(rows)
        return result


def batched_beam_search(net, prompts, *, beam_width=4, max_new_tokens=16, alpha=0.6, eos_token_id=0):
    """Returns, per prompt, up to `beam_width` pairs (generated tokens, score), best first.

    EOS is kept in the returned tokens.  score = logprob / len**alpha, len counts the
    generated tokens (EOS too), never the prompt.
    """
    if beam_width < 1 or max_new_tokens < 0:
        raise ValueError("beam_width >= 1 and max_new_tokens >= 0 expected")
    if not prompts:
        return []
    world = World(prompts, int(beam_width), int(max_new_tokens))
    while world.clock < world.T and world.alive.any():
        world.tick(net, eos_token_id)
    return world.harvest(alpha)


# ---------------------------------------------------------------- self-check
class BigramNet:
    """Toy network, the next token depends on the last one only."""

    def __init__(self, V, seed=0, eos_bias=0.0, eos=0):
        self.table = np.random.default_rng(seed).normal(size=(V, V))
        self.table[:, eos] += eos_bias

    def forward(self, ids):
        return self.table[ids]                    # (n, L, V)
