// style: a header with the device code in include/, the host side in src/, and a struct of parameters between them
// style: warps of a block share one row; partial results meet once, with the lists merged by a tree of warps
#pragma once

#include <cuda_runtime.h>

namespace online {

struct Shape {
    int rows;
    int vocab;
};

// A pair (maximum, sum of exponentials); the empty pair has sum 0.
struct Mass {
    float top;
    float sum;

    __device__ void add(const Mass& other) {
        if (other.sum == 0.0f) return;
        if (sum == 0.0f) {
            *this = other;
            return;
        }
        const float both = top > other.top ? top : other.top;
        sum = sum * expf(top - both) + other.sum * expf(other.top - both);
        top = both;
    }
};

template <int K>
struct List {
    float value[K];
    int name[K];

    __device__ void clear() {
        for (int i = 0; i < K; ++i) name[i] = -1;
    }

    __device__ bool takes(float x, int n) const {
        return name[K - 1] < 0 || x > value[K - 1] || (x == value[K - 1] && n < name[K - 1]);
    }

    __device__ void put(float x, int n) {
        int i = K - 1;
        for (; i > 0; --i) {
            if (name[i - 1] >= 0 && (value[i - 1] > x || (value[i - 1] == x && name[i - 1] < n))) break;
            value[i] = value[i - 1];
            name[i] = name[i - 1];
        }
        value[i] = x;
        name[i] = n;
    }
};

template <int K, int THREADS>
__global__ void rows_of_blocks(const float* __restrict__ logits, Shape shape, int* __restrict__ tokens,
                               float* __restrict__ probabilities) {
    __shared__ List<K> lists[THREADS];
    __shared__ Mass masses[THREADS];
    const int t = threadIdx.x;
    const float* x = logits + static_cast<size_t>(blockIdx.x) * shape.vocab;
    List<K>& mine = lists[t];
    Mass mass{0.0f, 0.0f};
    mine.clear();
    for (int v = t; v < shape.vocab; v += THREADS) {
        if (x[v] != -INFINITY) mass.add(Mass{x[v], 1.0f});
        if (mine.takes(x[v], v)) mine.put(x[v], v);
    }
    masses[t] = mass;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            masses[t].add(masses[t + half]);
            const List<K>& other = lists[t + half];
            for (int i = 0; i < K && other.name[i] >= 0 && mine.takes(other.value[i], other.name[i]); ++i)
                mine.put(other.value[i], other.name[i]);
        }
    }
    __syncthreads();
    for (int i = t; i < K; i += THREADS) {
        tokens[static_cast<size_t>(blockIdx.x) * K + i] = lists[0].name[i];
        probabilities[static_cast<size_t>(blockIdx.x) * K + i] =
            expf(lists[0].value[i] - masses[0].top) / masses[0].sum;
    }
}

}  // namespace online
