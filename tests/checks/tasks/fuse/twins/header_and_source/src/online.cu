#include "../include/online.cuh"

namespace {

template <int K>
cudaError_t go(const float* logits, int* tokens, float* probabilities, online::Shape shape, cudaStream_t stream) {
    online::rows_of_blocks<K, 64><<<shape.rows, 64, 0, stream>>>(logits, shape, tokens, probabilities);
    return cudaPeekAtLastError();
}

}  // namespace

extern "C" cudaError_t softmax_top_k(const float* logits, int* tokens, float* probabilities, long rows, long vocab,
                                     int k, cudaStream_t stream) {
    const online::Shape shape{static_cast<int>(rows), static_cast<int>(vocab)};
    if (k > vocab) return cudaErrorInvalidValue;
    if (k == 1) return go<1>(logits, tokens, probabilities, shape, stream);
    if (k == 5) return go<5>(logits, tokens, probabilities, shape, stream);
    if (k == 20) return go<20>(logits, tokens, probabilities, shape, stream);
    if (k == 64) return go<64>(logits, tokens, probabilities, shape, stream);
    return cudaErrorInvalidValue;
}
