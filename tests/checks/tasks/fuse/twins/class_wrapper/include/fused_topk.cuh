// style: a class whose constructor refuses K beyond the kernel's capacity; only a method launches
// style: declarations and definition in folders of their own, as a build file joins them; a list in shared memory, ranked by counting
// warns: k_range (beyond 64 the kernel alone is wrong, and the class that would refuse is not what is launched)
#pragma once
#include <cuda_runtime.h>
#include <cstdint>
#include <stdexcept>

namespace decode {

constexpr int CAPACITY = 64, THREADS = 64;

/// Softmax and top-k of logits (batch, time, vocab) in one read; a block per row.
class FusedTopK {
public:
    FusedTopK(int vocab, int k) : vocab_(vocab), k_(k) {
        if (k < 1 || k > CAPACITY || k > vocab) throw std::invalid_argument("k must be in [1, min(V, 64)]");
    }
    cudaError_t operator()(const float* logits, std::int64_t* indices, float* probs, int batch, int time,
                           cudaStream_t stream = nullptr) const;

private:
    int vocab_;
    int k_;
};

}  // namespace decode
