// What of the runtime API is a template, takes defaults, or does nothing in an emulator that never runs behind.
#pragma once

template <class T> inline cudaError_t cudaMalloc(T** p, size_t bytes, emu::Site site = emu::here()) { return emu_malloc((void**)p, bytes, 0, site); }
template <class T> inline cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t, emu::Site site = emu::here()) { return emu_malloc((void**)p, bytes, 0, site); }
template <class T> inline cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned = 1, emu::Site site = emu::here()) { return emu_malloc((void**)p, bytes, 1, site); }
template <class T> inline cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned = 0, emu::Site site = emu::here()) { return emu_malloc((void**)p, bytes, 2, site); }
template <class T> inline cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned = 0, emu::Site site = emu::here()) { return emu_malloc((void**)p, bytes, 2, site); }
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }
inline cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, emu::Site site = emu::here()) { return emu_copy(to, from, bytes, kind, site); }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t = nullptr, emu::Site site = emu::here()) { return emu_copy(to, from, bytes, kind, site); }
inline cudaError_t cudaMemset(void* to, int value, size_t bytes, emu::Site site = emu::here()) { return emu_set(to, value, bytes, site); }
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t = nullptr, emu::Site site = emu::here()) { return emu_set(to, value, bytes, site); }
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, emu::Site site = emu::here()) {
    for (size_t row = 0; row < height; row++)
        if (cudaError_t code = emu_copy((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width, kind, site)) return code;
    return cudaSuccess;
}
template <class T> inline cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice, emu::Site site = emu::here()) {
    if (offset + bytes > sizeof(T)) return emu_record(cudaErrorInvalidValue, "cudaMemcpyToSymbol", site);
    return emu_copy((char*)&symbol + offset, from, bytes, cudaMemcpyDefault, site);
}
template <class T> inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost, emu::Site site = emu::here()) {
    if (offset + bytes > sizeof(T)) return emu_record(cudaErrorInvalidValue, "cudaMemcpyFromSymbol", site);
    return emu_copy(to, (const char*)&symbol + offset, bytes, cudaMemcpyDefault, site);
}
template <class T> inline cudaError_t cudaGetSymbolAddress(void** p, const T& symbol) { *p = (void*)&symbol; return cudaSuccess; }

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return cudaStreamCreate(s); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int) { return cudaStreamCreate(s); }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
inline cudaError_t cudaEventRecord(cudaEvent_t e) { return cudaEventRecord(e, nullptr); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) { *value = 1024; return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { *version = CUDART_VERSION; return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { *version = CUDART_VERSION; return cudaSuccess; }
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) { return cudaSuccess; }

template <class F> inline cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute attribute, int value, emu::Site site = emu::here()) { return emu_allow_shared((const void*)kernel, attribute, value, site); }
template <class F> inline cudaError_t cudaFuncSetCacheConfig(F*, cudaFuncCache) { return cudaSuccess; }
template <class F> inline cudaError_t cudaFuncSetSharedMemConfig(F*, cudaSharedMemConfig) { return cudaSuccess; }
template <class F> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F*) { return emu_attributes(attributes); }
template <class F> inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F*, int threads, size_t shared) { return emu_occupancy(blocks, threads, shared); }
template <class F> inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F*, int threads, size_t shared, unsigned) { return emu_occupancy(blocks, threads, shared); }
template <class F> inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F*, size_t = 0, int limit = 0) {
    *block = limit > 0 && limit < 1024 ? limit : 1024;
    *grid = 264;
    return cudaSuccess;
}

template <class... P> inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t shared = 0, cudaStream_t stream = nullptr, emu::Site site = emu::here()) {
    return (cudaError_t)emu::launched_from(emu::Shape(grid, block, shared, stream, site), kernel, arguments, std::index_sequence_for<P...>());
}
template <class... P, class... A> inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* c, void (*kernel)(P...), A&&... arguments) {
    return (cudaError_t)emu::launched_by_pointer(emu::Shape(c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream), kernel, std::forward<A>(arguments)...);
}
