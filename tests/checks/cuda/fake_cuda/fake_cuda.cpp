// The device is the host's memory, 64 MiB of it; work is queued as seconds, and an error that stays shows when waited for.
#include "cuda_runtime.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace {

constexpr size_t kRoom = 64u << 20;
std::map<char*, size_t> memory;
size_t used = 0;
double queued = 0;
cudaError_t spoiled = cudaSuccess, unread = cudaSuccess;

cudaError_t told(cudaError_t error) {
    if (spoiled != cudaSuccess) error = spoiled;
    if (error != cudaSuccess) unread = error;
    return error;
}

cudaError_t allocated(void** pointer, size_t bytes) {
    if (spoiled != cudaSuccess || used + bytes > kRoom) return told(cudaErrorMemoryAllocation);
    char* made = (char*)std::malloc(bytes ? bytes : 1);
    // what nobody has written is no zero
    std::memset(made, 0xcd, bytes);
    memory[made] = bytes;
    used += bytes;
    *pointer = made;
    return cudaSuccess;
}

cudaError_t released(void* pointer) {
    if (!pointer) return told(cudaSuccess);
    const auto found = memory.find((char*)pointer);
    if (found == memory.end()) return told(cudaErrorInvalidValue);
    used -= found->second;
    std::free(found->first);
    memory.erase(found);
    return told(cudaSuccess);
}

bool on_device(const void* pointer, size_t bytes) {
    auto found = memory.upper_bound((char*)pointer);
    if (found == memory.begin()) return false;
    --found;
    return (char*)pointer + bytes <= found->first + found->second;
}

}  // namespace

struct FakeEvent {
    double at;
};

extern "C" {
cudaError_t cudaMalloc(void** p, size_t n) { return allocated(p, n); }
cudaError_t cudaMallocAsync(void** p, size_t n, cudaStream_t) { return allocated(p, n); }
cudaError_t cudaMallocManaged(void** p, size_t n, unsigned) { return allocated(p, n); }
cudaError_t cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return allocated(p, *pitch * height);
}
cudaError_t cudaFree(void* p) { return released(p); }
cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return released(p); }
cudaError_t cudaMemset(void* p, int value, size_t n) {
    if (spoiled != cudaSuccess || !on_device(p, n)) return told(cudaErrorInvalidValue);
    std::memset(p, value, n);
    return told(cudaSuccess);
}
cudaError_t cudaMemsetAsync(void* p, int value, size_t n, cudaStream_t) { return cudaMemset(p, value, n); }
cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind kind) {
    const bool whither = kind != cudaMemcpyDeviceToHost, whence = kind != cudaMemcpyHostToDevice;
    if (spoiled != cudaSuccess || (whither && !on_device(to, n)) || (whence && !on_device(from, n)))
        return told(cudaErrorInvalidValue);
    std::memcpy(to, from, n);
    // a copy of so much takes a second per MiB
    if (kind == cudaMemcpyDeviceToDevice) queued += (double)n / (1 << 20);
    return told(cudaSuccess);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy(to, from, n, kind);
}
cudaError_t cudaDeviceSynchronize() { return told(cudaSuccess); }
cudaError_t cudaGetLastError() {
    const cudaError_t last = spoiled != cudaSuccess ? spoiled : unread;
    unread = cudaSuccess;
    return last;
}
const char* cudaGetErrorName(cudaError_t error) {
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorOther";
}
const char* cudaGetErrorString(cudaError_t error) { return error == cudaErrorMemoryAllocation ? "out of memory" : "other"; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, told(cudaSuccess); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) { return *value = 1 << 20, told(cudaSuccess); }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new FakeEvent{0}, told(cudaSuccess); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) { return event->at = queued, told(cudaSuccess); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return told(cudaSuccess); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    *milliseconds = (float)((stop->at - start->at) * 1e3);
    return told(cudaSuccess);
}
void fake_spoil(cudaError_t error) { spoiled = error; }
void fake_not_launched(cudaError_t error) { unread = error; }
void fake_work(double seconds) { queued += seconds; }
}
