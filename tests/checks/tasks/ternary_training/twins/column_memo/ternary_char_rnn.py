# right: columns are examples, the bias is a vector, a memo goes to the backward
# only: projection, ste
"""A small recurrent character model with ternary weight matrices -- pure functions.

Notation is the one of a mathematics text: activations are COLUMNS.  A batch of B
inputs with n features is an (n, B) array and a layer computes  Y = Q(W) X + b  with
W of shape (out, in) = (m, n).

Q(W) splits each row of W into runs of 128 inputs (the last may be shorter).  With
s = mean |W| over the run, an entry w becomes  s * clip(round(w / s), -1, 1).

Backward uses the straight-through rule: dL/dW := dL/dQ(W), and s is held constant.

Run `python ternary_char_rnn.py` to repeat the training; it rewrites `train_log.txt`.
"""

import os
import textwrap

import numpy as np

GROUP = 128


# ------------------------------------------------------------------ the layer
def quantize(W, group=GROUP):
    """Q(W): the ternary weight and its list of (column slice, scale column)."""
    Q = np.zeros_like(W)
    groups = []
    for lo in range(0, W.shape[1], group):
        cols = slice(lo, min(lo + group, W.shape[1]))
        block = W[:, cols]
        s = np.abs(block).mean(axis=1, keepdims=True)
        live = s[:, 0] > 0  # rows whose run is all zero stay zero
        Q[live, cols] = s[live] * np.clip(np.round(block[live] / s[live]), -1, 1)
        groups.append((cols, s))
    return Q, groups


def ternary_forward(W, b, X, group=GROUP):
    """Y (m, B) for X (n, B); the memo goes to `ternary_backward`.

    b is an (m,) vector or None.
    """
    Q, _ = quantize(W, group)
    Y = Q @ X
    if b is not None:
        Y = Y + b[:, None]
    return Y, (Q, X, b is not None)


def ternary_backward(memo, dY):
    """(dW, db, dX) for the upstream gradient dY (m, B); db is None without a bias."""
    Q, X, has_bias = memo
    return dY @ X.T, (dY.sum(axis=1) if has_bias else None), Q.T @ dY


# ------------------------------------------------------------------ the text
# Training: the Gettysburg Address and the opening of the Declaration of Independence.
# Held out: the Preamble and first section of the Constitution -- a different document,
# of which no part occurs in the training text.
TRAIN_TEXT = """
Four score and seven years ago our fathers brought forth on this continent, a new
nation, conceived in Liberty, and dedicated to the proposition that all men are
created equal. Now we are engaged in a great civil war, testing whether that nation,
or any nation so conceived and so dedicated, can long endure. We are met on a great
battle-field of that war. We have come to dedicate a portion of that field, as a
final resting place for those who here gave their lives that that nation might live.
It is altogether fitting and proper that we should do this. But, in a larger sense,
we can not dedicate -- we can not consecrate -- we can not hallow -- this ground. The
brave men, living and dead, who struggled here, have consecrated it, far above our
poor power to add or detract. The world will little note, nor long remember what we
say here, but it can never forget what they did here. It is for us the living, rather,
to be dedicated here to the unfinished work which they who fought here have thus far
so nobly advanced. It is rather for us to be here dedicated to the great task
remaining before us -- that from these honored dead we take increased devotion to that
cause for which they gave the last full measure of devotion -- that we here highly
resolve that these dead shall not have died in vain -- that this nation, under God,
shall have a new birth of freedom -- and that government of the people, by the people,
for the people, shall not perish from the earth.
When in the Course of human events, it becomes necessary for one people to dissolve
the political bands which have connected them with another, and to assume among the
powers of the earth, the separate and equal station to which the Laws of Nature and of
Nature's God entitle them, a decent respect to the opinions of mankind requires that
they should declare the causes which impel them to the separation. We hold these truths
to be self-evident, that all men are created equal, that they are endowed by their
Creator with certain unalienable Rights, that among these are Life, Liberty and the
pursuit of Happiness. That to secure these rights, Governments are instituted among
Men, deriving their just powers from the consent of the governed. That whenever any
Form of Government becomes destructive of these ends, it is the Right of the People to
alter or to abolish it, and to institute new Government, laying its foundation on such
principles and organizing its powers in such form, as to them shall seem most likely to
effect their Safety and Happiness. Prudence, indeed, will dictate that Governments long
established should not be changed for light and transient causes; and accordingly all
experience hath shewn, that mankind are more disposed to suffer, while evils are
sufferable, than to right themselves by abolishing the forms to which they are
accustomed.
"""
HELDOUT_TEXT = """
We the People of the United States, in Order to form a more perfect Union, establish
Justice, insure domestic Tranquility, provide for the common defence, promote the
general Welfare, and secure the Blessings of Liberty to ourselves and our Posterity, do
ordain and establish this Constitution for the United States of America. All legislative
Powers herein granted shall be vested in a Congress of the United States, which shall
consist of a Senate and House of Representatives.
"""


def clean(text):
    """Lower case, one space between words."""
    return " ".join(text.lower().split())


# ------------------------------------------------------------------ the model
def init_params(vocab, hidden, rng):
    """Recurrent net  h' = tanh(Q(W)[e(c); h] + b),  logits = V h' + a."""
    embed = 48
    fan_in = embed + hidden
    return {
        "E": rng.normal(0, 0.7, (embed, vocab)),
        "W": rng.normal(0, 1.0 / np.sqrt(fan_in), (hidden, fan_in)),  # ternary
        "b": np.zeros(hidden),
        "V": rng.normal(0, 0.5 / np.sqrt(hidden), (vocab, hidden)),
        "a": np.zeros(vocab),
    }


def loss_and_grads(p, ids, h, want_grads=True):
    """Mean cross-entropy (nats) of ids (T+1, B), its gradients and the last state."""
    T, B = ids.shape[0] - 1, ids.shape[1]
    embed = p["E"].shape[0]
    memos, states, total = [], [], 0.0
    for t in range(T):
        Z, memo = ternary_forward(p["W"], p["b"], np.vstack([p["E"][:, ids[t]], h]))
        h = np.tanh(Z)
        logits = p["V"] @ h + p["a"][:, None]
        logits = logits - logits.max(axis=0)
        logp = logits - np.log(np.exp(logits).sum(axis=0))
        total -= logp[ids[t + 1], np.arange(B)].sum()
        memos.append(memo)
        states.append((h, logp))
    loss = total / (T * B)
    if not want_grads:
        return loss, None, h

    g = {name: np.zeros_like(value) for name, value in p.items()}
    dh_next = np.zeros_like(h)
    for t in reversed(range(T)):
        ht, logp = states[t]
        dlogits = np.exp(logp)
        dlogits[ids[t + 1], np.arange(B)] -= 1
        dlogits /= T * B
        g["V"] += dlogits @ ht.T
        g["a"] += dlogits.sum(axis=1)
        dZ = (p["V"].T @ dlogits + dh_next) * (1 - ht**2)
        dW, db, dX = ternary_backward(memos[t], dZ)
        g["W"] += dW
        g["b"] += db
        np.add.at(g["E"].T, ids[t], dX[:embed].T)
        dh_next = dX[embed:]
    return loss, g, h


def perplexity(p, ids):
    """Perplexity of one text, read from its first to its last character."""
    h = np.zeros((p["W"].shape[0], 1))
    loss, _, _ = loss_and_grads(p, ids[:, None], h, want_grads=False)
    return float(np.exp(loss))


def train(steps=240, batch=16, span=24, lr=0.06, momentum=0.9, hidden=144, seed=5):
    """SGD with momentum and clipping by global norm; yields (step, loss, perplexity)."""
    train_text, held_text = clean(TRAIN_TEXT), clean(HELDOUT_TEXT)
    chars = sorted(set(train_text))
    code = {c: i for i, c in enumerate(chars)}
    train_ids = np.array([code[c] for c in train_text])
    held_ids = np.array([code[c] for c in held_text if c in code])

    rng = np.random.default_rng(seed)
    p = init_params(len(chars), hidden, rng)
    velocity = {name: np.zeros_like(value) for name, value in p.items()}
    window = []
    for step in range(1, steps + 1):
        starts = rng.integers(0, len(train_ids) - span, size=batch)
        ids = train_ids[starts[None, :] + np.arange(span + 1)[:, None]]
        loss, g, _ = loss_and_grads(p, ids, np.zeros((hidden, batch)))
        norm = np.sqrt(sum((x**2).sum() for x in g.values()))
        factor = min(1.0, 1.0 / norm)
        rate = lr * (1 - 0.8 * step / steps)
        for name in p:
            velocity[name] = momentum * velocity[name] - rate * factor * g[name]
            p[name] = p[name] + velocity[name]
        window.append(loss)
        if step == 1 or step % 20 == 0:
            yield step, float(np.mean(window)), perplexity(p, held_ids)
            window = []


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    header = textwrap.dedent(
        f"""\
        # ternary character RNN, group size {GROUP}
        # train: {len(clean(TRAIN_TEXT))} characters, held-out: {len(clean(HELDOUT_TEXT))} characters of another document
        # step   train_loss(nats, mean since last line)   heldout_perplexity
        """
    )
    with open(os.path.join(here, "train_log.txt"), "w") as log:
        log.write(header)
        for step, loss, ppl in train():
            line = f"{step:6d}   {loss:8.4f}   {ppl:9.3f}"
            print(line)
            log.write(line + "\n")
