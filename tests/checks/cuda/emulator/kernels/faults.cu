// Kernels with one fault each, at the line that says so: `// kind` in the faulty line itself.
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void race_without_barrier(const float* in, float* out, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[(threadIdx.x + 33) % 64];  // race
}

__global__ void race_of_the_next_round(const float* in, float* out, int n) {
    __shared__ float s;
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x == 0) s = in[i];  // race
        __syncthreads();
        out[threadIdx.x] = s;
    }
}

__global__ void race_on_a_shared_heap(const float* in, float* out, int n) {
    __shared__ float heap[8];
    __shared__ int size;
    if (threadIdx.x == 0) size = 0;
    __syncthreads();
    if (in[threadIdx.x] > 0.5f) {
        int at = size;  // race
        if (at < 8) {
            heap[at] = in[threadIdx.x];
            size = at + 1;
        }
    }
    __syncthreads();
    if (threadIdx.x < size) out[threadIdx.x] = heap[threadIdx.x];
}

__global__ void race_within_a_warp(const float* in, float* out, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x ^ 1];  // race
}

__global__ void race_of_a_plain_read_with_an_atomic(const float* in, float* out, int n) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    out[threadIdx.x] = count;  // race
}

struct Pair {
    float x;
    int i;
};

__global__ void race_of_copied_pairs(const float* in, float* out, int n) {
    __shared__ Pair from[64], to[2];
    from[threadIdx.x] = Pair{in[threadIdx.x], (int)threadIdx.x};
    __syncthreads();
    if (threadIdx.x == 0 || threadIdx.x == 40) to[0] = from[threadIdx.x];  // race
    __syncthreads();
    out[threadIdx.x] = to[0].x;
}

__global__ void divergent_shuffle_in_both_branches(const float* in, float* out, int n) {
    float v = in[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v += __shfl_down_sync(0xffffffffu, v, 1);  // divergent_shuffle
    else
        v += __shfl_down_sync(0xffffffffu, v, 2);
    out[threadIdx.x] = v;
}

__global__ void divergent_shuffle_in_a_loop(const float* in, float* out, int n) {
    float v = in[threadIdx.x];
    for (int i = threadIdx.x % 32; i < 40; i += 32) v += __shfl_xor_sync(0xffffffffu, v, 1);  // divergent_shuffle
    v += __shfl_xor_sync(0xffffffffu, v, 2);
    out[threadIdx.x] = v;
}

__global__ void divergent_shuffle_of_an_unnamed_caller(const float* in, float* out, int n) {
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, in[threadIdx.x], 0);  // divergent_shuffle
}

__global__ void deadlock_of_barrier_and_shuffle(const float* in, float* out, int n) {
    float v = in[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v += __shfl_down_sync(0xffffffffu, v, 1);
    else
        __syncthreads();  // deadlock
    out[threadIdx.x] = v;
}

__global__ void barrier_divergence_with_a_shuffle(const float* in, float* out, int n) {
    float v = in[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v += __shfl_down_sync(0xffffffffu, v, 1);
    else
        __syncthreads();  // barrier_divergence
    out[threadIdx.x] = v;
}

__global__ void deadlock_of_a_spin(const float* in, float* out, int n) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    while (atomicAdd(&flag, 0) == 0) {  // deadlock
    }
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void out_of_bounds_read(const float* in, float* out, int n) {
    out[threadIdx.x] = in[n + threadIdx.x];  // out_of_bounds
}

__global__ void out_of_bounds_write(const float* in, float* out, int n) {
    out[64 + threadIdx.x] = in[threadIdx.x];  // out_of_bounds
}

__global__ void out_of_bounds_atomic(const float* in, float* out, int n) {
    atomicAdd(out + 64, in[threadIdx.x]);  // out_of_bounds
}

__device__ float last_of(const float* values, int count) { return values[count]; }  // out_of_bounds

__global__ void out_of_bounds_shared_through_a_pointer(const float* in, float* out, int n) {
    __shared__ float a[64], b[64];
    a[threadIdx.x] = b[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = last_of(n > 3 ? a : b, 64);
}

__global__ void out_of_bounds_shared_index(const float* in, float* out, int n) {
    __shared__ float a[32];
    a[threadIdx.x] = in[threadIdx.x];  // out_of_bounds
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x % 32];
}

__global__ void out_of_bounds_dynamic(const float* in, float* out, int n) {
    extern __shared__ float dynamic[];
    dynamic[threadIdx.x] = in[threadIdx.x];  // out_of_bounds
    __syncthreads();
    out[threadIdx.x] = dynamic[threadIdx.x % 32];
}

__global__ void out_of_bounds_local_array(const float* in, float* out, int n) {
    float list[8];
    for (int i = 0; i < 8; i++) list[i] = in[i];
    out[threadIdx.x] = list[n - 56];  // out_of_bounds
}

__global__ void illegal_address_null(const float* in, float* out, int n) {
    float* nowhere = n > 3 ? nullptr : out;
    nowhere[threadIdx.x] = in[threadIdx.x];  // illegal_address
}

__global__ void illegal_address_far(const float* in, float* out, int n) {
    out[threadIdx.x] = in[(size_t)n << 24];  // illegal_address
}

__global__ void misaligned_access_of_a_vector(const float* in, float* out, int n) {
    float4 v = reinterpret_cast<const float4*>(in + 1)[threadIdx.x % 4];  // misaligned_access
    out[threadIdx.x] = v.x + v.w;
}

__global__ void misaligned_access_through_ldg(const float* in, float* out, int n) {
    float2 v = __ldg(reinterpret_cast<const float2*>(in + 1));  // misaligned_access
    out[threadIdx.x] = v.x + v.y;
}

__global__ void misaligned_access_by_a_store(const float* in, float* out, int n) {
    *reinterpret_cast<float4*>(out + 2) = make_float4(1, 2, 3, 4);  // misaligned_access
}

__global__ void misaligned_access_to_shared(const float* in, float* out, int n) {
    __shared__ alignas(16) float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    double* half_way = reinterpret_cast<double*>(s + 1);
    out[threadIdx.x] = (float)half_way[threadIdx.x % 4];  // misaligned_access
}

__global__ void uninitialized_read_of_shared(const float* in, float* out, int n) {
    __shared__ float s[64];
    if (threadIdx.x < 3) s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];  // uninitialized_read
}

__global__ void uninitialized_read_of_dynamic(const float* in, float* out, int n) {
    extern __shared__ float dynamic[];
    if (threadIdx.x < 16) dynamic[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = dynamic[threadIdx.x % 32];  // uninitialized_read
}

__global__ void unfinished_copy_that_nobody_waits_for(const float* in, float* out, int n) {
    __shared__ float s[64];
    __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, sizeof(float));
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];  // unfinished_copy
}

__global__ void unfinished_copy_of_the_newest_batch(const float* in, float* out, int n) {
    __shared__ float s[2][64];
    for (int batch = 0; batch < 2; batch++) {
        __pipeline_memcpy_async(s[batch] + threadIdx.x, in + threadIdx.x, sizeof(float));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[threadIdx.x] = s[0][threadIdx.x];
    out[threadIdx.x] += s[1][threadIdx.x];  // unfinished_copy
}

__global__ void unfinished_copy_that_is_no_batch(const float* in, float* out, int n) {
    extern __shared__ float dynamic[];
    if (threadIdx.x < 32) __pipeline_memcpy_async(dynamic + threadIdx.x, in + threadIdx.x, sizeof(float));
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = dynamic[threadIdx.x % 32];  // unfinished_copy
}

__global__ void unfinished_copy_of_a_group(const float* in, float* out, int n) {
    __shared__ float s[64];
    cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, s, in, sizeof s);
    block.sync();
    out[threadIdx.x] = s[threadIdx.x];  // unfinished_copy
}

__global__ void race_of_a_copy_without_barrier(const float* in, float* out, int n) {
    __shared__ float s[64];
    __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, sizeof(float));  // race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[(threadIdx.x + 33) % 64];
}

__global__ void input_written(const float* in, float* out, int n) {
    const_cast<float*>(in)[threadIdx.x] = 0;  // input_written
    out[threadIdx.x] = 0;
}

__global__ void trap_by_an_assertion(const float* in, float* out, int n) {
    assert(n < 3);  // trap
    out[threadIdx.x] = in[threadIdx.x];
}

__device__ float deep(const float* in, int left) {
    volatile float wide[8192];
    wide[left % 8192] = in[0];
    return left ? wide[left % 8192] + deep(in, left - 1) : 0;
}

__global__ void stack_overflow(const float* in, float* out, int n) { out[threadIdx.x] = deep(in, n * 100); }

__global__ void unnamed_lane_read(const float* in, float* out, int n) {
    float v = in[threadIdx.x];
    if (threadIdx.x % 32 < 8) v += __shfl_down_sync(0x000000ffu, v, 4);  // unnamed_lane_read
    out[threadIdx.x] = v;
}

__global__ void unnamed_lane_read_of_an_exited(const float* in, float* out, int n) {
    if (threadIdx.x % 32 >= 20) return;
    out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, in[threadIdx.x], 16);  // unnamed_lane_read
}

__global__ void benign_race(const float* in, float* out, int n) {
    __shared__ int found;
    found = 1;  // benign_race
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x] * found;
}

__global__ void weak_order(const float* in, float* out, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    float first = __shfl_sync(0xffffffffu, in[threadIdx.x], 0);
    out[threadIdx.x] = s[threadIdx.x ^ 1] + first;  // weak_order
}

__global__ void division_by_zero(const float* in, float* out, int n) {
    int lane = threadIdx.x % 32;
    long long wide = lane;
    out[threadIdx.x] = in[0] + (n / lane == -1) + (n % wide == n);  // division_by_zero
}

__global__ void barrier_divergence_that_pairs_up(const float* in, float* out, int n) {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();  // barrier_divergence
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void barrier_exit(const float* in, float* out, int n) {
    if (threadIdx.x > 40) return;
    __syncthreads();  // barrier_exit
    out[threadIdx.x] = in[threadIdx.x];
}

typedef void (*Kernel)(const float*, float*, int);

extern "C" int judge_launch(const float* in, void* indices, void* out, long long rows, long long V, int K) {
    const Kernel kernels[] = {
        race_without_barrier,
        race_of_the_next_round,
        race_on_a_shared_heap,
        race_within_a_warp,
        race_of_a_plain_read_with_an_atomic,
        race_of_copied_pairs,
        divergent_shuffle_in_both_branches,
        divergent_shuffle_in_a_loop,
        divergent_shuffle_of_an_unnamed_caller,
        deadlock_of_barrier_and_shuffle,
        barrier_divergence_with_a_shuffle,
        deadlock_of_a_spin,
        out_of_bounds_read,
        out_of_bounds_write,
        out_of_bounds_atomic,
        out_of_bounds_shared_through_a_pointer,
        out_of_bounds_shared_index,
        out_of_bounds_dynamic,
        out_of_bounds_local_array,
        illegal_address_null,
        illegal_address_far,
        misaligned_access_of_a_vector,
        misaligned_access_through_ldg,
        misaligned_access_by_a_store,
        misaligned_access_to_shared,
        uninitialized_read_of_shared,
        uninitialized_read_of_dynamic,
        unfinished_copy_that_nobody_waits_for,
        unfinished_copy_of_the_newest_batch,
        unfinished_copy_that_is_no_batch,
        unfinished_copy_of_a_group,
        race_of_a_copy_without_barrier,
        input_written,
        trap_by_an_assertion,
        stack_overflow,
        unnamed_lane_read,
        unnamed_lane_read_of_an_exited,
        benign_race,
        weak_order,
        division_by_zero,
        barrier_divergence_that_pairs_up,
        barrier_exit,
    };
    kernels[K]<<<1, 64, 128>>>(in, static_cast<float*>(out), static_cast<int>(V));
    cudaDeviceSynchronize();
    return 0;
}
