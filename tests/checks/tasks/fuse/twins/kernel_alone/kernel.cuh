// style: a kernel without a launcher: warps of a block take rows by blockIdx and threadIdx.y, the binding gives the grid rule
// style: lists of 64 as two registers per lane; K is a template parameter and so is the number of rows per block
#pragma once

namespace device_only {

template <int K, int ROWS_PER_BLOCK>
__global__ void topk_softmax_rows(const float* __restrict__ logits, int* __restrict__ indices,
                                  float* __restrict__ probs, int rows, int vocab) {
    static_assert(K <= 64, "two entries per lane");
    // dynamic: each row has a slice of 64 values and 64 indices
    extern __shared__ float slices[];
    const int lane = threadIdx.x & 31;
    const int slot = threadIdx.x >> 5;
    const int row = blockIdx.x * ROWS_PER_BLOCK + slot;
    float* values = slices + slot * 128;
    int* names = reinterpret_cast<int*>(values + 64);
    values[lane] = values[lane + 32] = __int_as_float(0xff800000);
    names[lane] = names[lane + 32] = 0x7fffffff;
    __syncwarp();
    if (row >= rows) return;
    const float* x = logits + static_cast<long long>(row) * vocab;

    float m = __int_as_float(0xff800000), d = 0.f;
    for (int base = 0; base < vocab; base += 32) {
        const int v = base + lane;
        const float y = v < vocab ? __ldg(x + v) : __int_as_float(0xff800000);
        if (y > m) {
            d = d * expf(m - y) + 1.f;
            m = y;
        } else if (v < vocab && y > __int_as_float(0xff800000)) {
            d += expf(y - m);
        }
        // the worst entry is the last one; candidates enter one after another, all lanes helping
        const float bar = values[K - 1];
        const int bar_at = names[K - 1];
        unsigned todo = __ballot_sync(0xffffffffu, v < vocab && (y > bar || (y == bar && v < bar_at)));
        while (todo) {
            const int from = __ffs(todo) - 1;
            todo &= todo - 1;
            const float z = __shfl_sync(0xffffffffu, y, from);
            const int name = base + from;
            // how many entries stay in front of it
            const unsigned low = __ballot_sync(0xffffffffu, values[lane] > z || (values[lane] == z && names[lane] < name));
            const unsigned high =
                __ballot_sync(0xffffffffu, values[lane + 32] > z || (values[lane + 32] == z && names[lane + 32] < name));
            const int place = __popc(low) + __popc(high);
            const float moved_low = values[lane], moved_high = values[lane + 32];
            const int name_low = names[lane], name_high = names[lane + 32];
            __syncwarp();
            if (lane >= place) {
                values[lane + 1] = moved_low;
                names[lane + 1] = name_low;
            }
            if (lane + 32 >= place && lane + 33 < 64) {
                values[lane + 33] = moved_high;
                names[lane + 33] = name_high;
            }
            __syncwarp();
            if (lane == 0 && place < 64) {
                values[place] = z;
                names[place] = name;
            }
            __syncwarp();
        }
    }

    float top = m;
    for (int offset = 16; offset; offset >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, offset));
    float mass = d > 0.f ? d * expf(m - top) : 0.f;
    for (int offset = 16; offset; offset >>= 1) mass += __shfl_xor_sync(0xffffffffu, mass, offset);
    for (int k = lane; k < K; k += 32) {
        indices[static_cast<long long>(row) * K + k] = names[k];
        probs[static_cast<long long>(row) * K + k] = expf(values[k] - top) / mass;
    }
}

template __global__ void topk_softmax_rows<10, 4>(const float*, int*, float*, int, int);
template __global__ void topk_softmax_rows<64, 4>(const float*, int*, float*, int, int);
template __global__ void topk_softmax_rows<10, 1>(const float*, int*, float*, int, int);

}  // namespace device_only
