"""
Batched Beam Search with EOS Semantics and Length Penalty
=========================================================

This module contains:
  1. MinimalLanguageModel: a small decoder-only transformer in NumPy
  2. batched_beam_search: beam search over a batch of variable-length prompts
  3. Tests for greedy equivalence, batch independence and EOS retention
"""

import numpy as np


PAD_TOKEN_ID = 0


# =============================================================================
# MODEL
# =============================================================================


class MinimalLanguageModel:
    """
    Minimal decoder-only transformer with multi-head causal self-attention.

    Pre-norm blocks of attention and feed-forward, both with residuals.
    """

    def __init__(self, vocab_size=64, d_model=32, num_heads=4, num_layers=2,
                 max_seq_len=256, seed=42):
        assert d_model % num_heads == 0, "d_model must be divisible by num_heads"

        self.vocab_size = vocab_size
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.num_layers = num_layers

        rng = np.random.RandomState(seed)
        scale = 1.0 / np.sqrt(d_model)

        self.token_embedding = rng.randn(vocab_size, d_model)
        self.position_embedding = rng.randn(max_seq_len, d_model) * 0.1

        self.layers = []
        for _ in range(num_layers):
            self.layers.append({
                'W_q': rng.randn(d_model, d_model) * scale,
                'W_k': rng.randn(d_model, d_model) * scale,
                'W_v': rng.randn(d_model, d_model) * scale,
                'W_o': rng.randn(d_model, d_model) * scale,
                'W_1': rng.randn(d_model, 4 * d_model) * scale,
                'b_1': np.zeros(4 * d_model),
                'W_2': rng.randn(4 * d_model, d_model) * scale * 0.5,
                'b_2': np.zeros(d_model),
            })

        self.output_projection = rng.randn(d_model, vocab_size) * scale

    def _layer_norm(self, x, eps=1e-5):
        mean = np.mean(x, axis=-1, keepdims=True)
        var = np.var(x, axis=-1, keepdims=True)
        return (x - mean) / np.sqrt(var + eps)

    def forward(self, token_ids):
        """
        Forward pass.

        Args:
            token_ids: Token ids of shape (batch, seq_len). Shorter sequences
                are padded on the right. Because attention is causal, a real
                position never looks at the padding behind it.

        Returns:
            logits of shape (batch, seq_len, vocab_size)
        """
        token_ids = np.asarray(token_ids, dtype=np.int64)
        batch_size, seq_len = token_ids.shape

        x = self.token_embedding[token_ids] + self.position_embedding[:seq_len]
        causal_mask = np.triu(np.ones((seq_len, seq_len), dtype=bool), k=1)

        for layer in self.layers:
            # --- Multi-head self-attention ---
            h = self._layer_norm(x)
            q = np.matmul(h, layer['W_q'])
            k = np.matmul(h, layer['W_k'])
            v = np.matmul(h, layer['W_v'])

            # (batch, seq, d_model) -> (batch, heads, seq, head_dim)
            shape = (batch_size, seq_len, self.num_heads, self.head_dim)
            q = q.reshape(shape).transpose(0, 2, 1, 3)
            k = k.reshape(shape).transpose(0, 2, 1, 3)
            v = v.reshape(shape).transpose(0, 2, 1, 3)

            scores = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(self.head_dim)
            scores = np.where(causal_mask, -np.inf, scores)
            scores = scores - np.max(scores, axis=-1, keepdims=True)
            weights = np.exp(scores)
            weights = weights / np.sum(weights, axis=-1, keepdims=True)

            attended = np.matmul(weights, v)
            attended = attended.transpose(0, 2, 1, 3).reshape(batch_size, seq_len, self.d_model)
            x = x + np.matmul(attended, layer['W_o'])

            # --- Feed-forward ---
            h = self._layer_norm(x)
            hidden = np.maximum(np.matmul(h, layer['W_1']) + layer['b_1'], 0.0)
            x = x + np.matmul(hidden, layer['W_2']) + layer['b_2']

        return np.matmul(self._layer_norm(x), self.output_projection)


# =============================================================================
# BEAM SEARCH
# =============================================================================


def softmax(logits):
    """Numerically stable softmax over a vector of logits."""
    exp_logits = np.exp(logits - np.max(logits))
    return exp_logits / np.sum(exp_logits)


def length_penalized_score(logprob, length, alpha):
    """score = logprob / length^alpha"""
    if length == 0:
        return logprob
    return logprob / (length ** alpha)


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """
    Batched beam search.

    EOS retention: a beam that generates EOS is a complete hypothesis. It must
    not be thrown away, because otherwise a longer beam with a worse score could
    win just because it has not stopped yet. Finished beams are collected in
    finished_results with their frozen logprob and compete with the unfinished
    beams in the final ranking.

    Args:
        prompts: List of token id lists (variable length)
        beam_width: Number of beams K
        max_new_tokens: Maximum number of tokens to generate
        alpha: Length penalty exponent
        eos_token_id: End-of-sequence token id

    Returns:
        For each prompt, a list of up to K dicts sorted by score, best first:
            'tokens':   generated tokens (without the prompt)
            'score':    length-penalized score
            'logprob':  accumulated log-probability
            'finished': whether the beam ended with EOS
    """
    model = MinimalLanguageModel()
    batch_size = len(prompts)

    active_beams = []
    finished_results = []
    for batch_idx in range(batch_size):
        active_beams.append([{
            'batch_idx': batch_idx,
            'sequence': list(prompts[batch_idx]),
            'tokens': [],
            'logprob': 0.0,
            'finished': False,
        }])
        finished_results.append([])

    for step in range(max_new_tokens):
        # --- Collect all sequences that need a forward pass, across all batches ---
        flat_sequences = []
        for batch_idx in range(batch_size):
            for beam in active_beams[batch_idx]:
                if not beam['finished']:
                    beam['row'] = len(flat_sequences)
                    flat_sequences.append(beam['sequence'])

        if len(flat_sequences) == 0:
            break

        # Pad to the longest sequence and run the model once
        lengths = [len(seq) for seq in flat_sequences]
        padded = np.full((len(flat_sequences), max(lengths)), PAD_TOKEN_ID, dtype=np.int64)
        for row, seq in enumerate(flat_sequences):
            padded[row, :len(seq)] = seq
        logits = model.forward(padded)

        # --- Expand every unfinished beam into its top 2K continuations ---
        all_candidates = []
        for batch_idx in range(batch_size):
            beams = active_beams[batch_idx]

            if all(beam['finished'] for beam in beams):
                for beam in beams:
                    finished_results[batch_idx].append({
                        'tokens': beam['tokens'],
                        'logprob': beam['logprob'],
                        'finished': True,
                    })
                active_beams[batch_idx] = []
                continue

            for beam in beams:
                if beam['finished']: continue

                row = beam['row']
                # Logits at the last real (non-padding) position of this beam
                probs = softmax(np.asarray(logits[row, lengths[row] - 1], dtype=np.float64))

                num_candidates = min(2 * beam_width, len(probs))
                top_tokens = np.argpartition(probs, -num_candidates)[-num_candidates:]
                top_tokens = top_tokens[np.argsort(-probs[top_tokens], kind='stable')]

                for token in top_tokens:
                    token_id = int(token)
                    token_prob = probs[token_id]
                    if token_prob <= 0.0:
                        continue
                    token_logprob = float(np.log(token_prob))
                    new_logprob = beam['logprob'] + token_logprob
                    new_tokens = beam['tokens'] + [token_id]
                    all_candidates.append({
                        'batch_idx': batch_idx,
                        'sequence': beam['sequence'] + [token_id],
                        'tokens': new_tokens,
                        'logprob': new_logprob,
                        'score': length_penalized_score(new_logprob, len(new_tokens), alpha),
                        'finished': token_id == eos_token_id,
                    })

        # --- Select the top K candidates for each batch element ---
        for batch_idx in range(batch_size):
            batch_candidates = [c for c in all_candidates if c['batch_idx'] == batch_idx]
            if len(batch_candidates) == 0:
                continue

            batch_candidates.sort(key=lambda c: c['score'], reverse=True)
            selected = batch_candidates[:beam_width]

            new_active_beams = []
            for c in selected:
                if c['finished']:
                    finished_results[c['batch_idx']].append({
                        'tokens': c['tokens'],
                        'logprob': c['logprob'],
                        'finished': True,
                    })
                else:
                    new_active_beams.append({
                        'batch_idx': c['batch_idx'],
                        'sequence': c['sequence'],
                        'tokens': c['tokens'],
                        'logprob': c['logprob'],
                        'finished': False,
                    })
            active_beams[batch_idx] = new_active_beams

    # --- Final ranking: merge finished and unfinished beams ---
    results = []
    for batch_idx in range(batch_size):
        scored_results = []
        for beam in finished_results[batch_idx] + active_beams[batch_idx]:
            scored_results.append({
                'tokens': beam['tokens'],
                'score': length_penalized_score(beam['logprob'], len(beam['tokens']), alpha),
                'logprob': beam['logprob'],
                'finished': beam['finished'],
            })
        scored_results.sort(key=lambda r: r['score'], reverse=True)
        results.append(scored_results[:beam_width])

    return results


# =============================================================================
# TESTS
# =============================================================================


def test_greedy_equivalence():
    """Test 1: beam_width=1 and alpha=0 is the same as greedy decoding."""
    print("Test 1: Greedy equivalence")

    model = MinimalLanguageModel()
    eos_token_id = 1
    max_new_tokens = 8
    prompt = [5, 12, 7]

    # Greedy decoding
    greedy_tokens = []
    sequence = list(prompt)
    for _ in range(max_new_tokens):
        logits = model.forward(np.array([sequence]))[0, -1]
        next_token = int(np.argmax(logits))
        greedy_tokens.append(next_token)
        sequence.append(next_token)
        if next_token == eos_token_id:
            break

    results = batched_beam_search([prompt], beam_width=1, max_new_tokens=max_new_tokens,
                                  alpha=0.0, eos_token_id=eos_token_id)
    beam_tokens = results[0][0]['tokens']

    print(f"  Greedy: {greedy_tokens}")
    print(f"  Beam:   {beam_tokens}")
    assert beam_tokens == greedy_tokens, "Beam search with K=1 differs from greedy!"
    print("  PASSED")


def test_batch_independence():
    """Test 2: prompts of different lengths in one batch do not affect each other."""
    print("Test 2: Batch independence")

    prompts = [[5, 12, 7], [3, 9, 22, 41, 8]]
    settings = {'beam_width': 2, 'max_new_tokens': 5, 'alpha': 0.6, 'eos_token_id': 1}

    batch_results = batched_beam_search(prompts, **settings)

    for batch_idx, prompt in enumerate(prompts):
        solo_results = batched_beam_search([prompt], **settings)
        batch_tokens = set(batch_results[batch_idx][0]['tokens'])
        solo_tokens = set(solo_results[0][0]['tokens'])
        overlap = len(batch_tokens & solo_tokens) / max(len(batch_tokens | solo_tokens), 1)
        print(f"  Prompt {batch_idx}: token overlap with solo run = {overlap:.2f}")
        assert overlap > 0.5, f"Prompt {batch_idx} changes when batched!"
    print("  PASSED")


def test_eos_retention():
    """
    Test 3: a beam that produces EOS at step 1 must win.

    The first forward call is patched: EOS gets logit 5.0 and the continuation
    gets logit 3.0, all other tokens are suppressed. From the second call on the
    real model is used.
    """
    print("Test 3: EOS retention")

    eos_token_id, continue_token = 1, 2
    original_forward = MinimalLanguageModel.forward
    num_calls = 0

    def patched_forward(self, token_ids):
        nonlocal num_calls
        num_calls += 1
        if num_calls > 1:
            return original_forward(self, token_ids)
        logits = np.full(np.shape(token_ids) + (self.vocab_size,), -1e9)
        logits[..., eos_token_id] = 5.0
        logits[..., continue_token] = 3.0
        return logits

    MinimalLanguageModel.forward = patched_forward
    try:
        results = batched_beam_search([[5, 12, 7]], beam_width=3, max_new_tokens=4,
                                      alpha=0.6, eos_token_id=eos_token_id)
    finally:
        MinimalLanguageModel.forward = original_forward

    for beam in results[0]:
        print(f"  tokens={beam['tokens']} score={beam['score']:.4f} finished={beam['finished']}")

    best = results[0][0]
    assert best['tokens'] == [eos_token_id], "EOS beam should win!"
    assert best['finished'], "Best beam should be finished!"
    print("  PASSED")


if __name__ == "__main__":
    test_greedy_equivalence()
    test_batch_independence()
    test_eos_retention()
    print("All tests passed!")
