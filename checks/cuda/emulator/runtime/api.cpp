// The runtime API: one device with the limits of a card of compute capability 9.0.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include "emulator/cuda.h"
#include "grid.h"
#include "state.h"
#include "walls.h"

using namespace emu;

namespace {

constexpr size_t MOST_SHARED = 48 << 10, MOST_OPTED = 227 << 10, DEVICE = size_t(2) << 30;
// few: a grid of so many blocks per processor then goes over its rows several times, small as the tests are
constexpr int PROCESSORS = 5;

int pending = 0;         // what cudaGetLastError tells next
size_t allowed_shared = 0;

cudaError_t failed(cudaError_t code, const char* call, Where where) {
    Inside inside;
    pending = code;
    report("api_error", NOTE, where, 0, "%s gives %s", call, cudaGetErrorName(code));
    return code;
}

int sticky() { return machine.error; }

// Which limit of a card a launch is beyond; null where it is within all of them.
const char* beyond(const Extent& grid, const Extent& block) {
    static char text[64];
    const struct {
        const char* name;
        size_t given, most;
    } limits[] = {{"gridDim.x", grid.x, 0x7fffffff}, {"gridDim.y", grid.y, 65535}, {"gridDim.z", grid.z, 65535},
                  {"blockDim.x", block.x, 1024},     {"blockDim.y", block.y, 1024}, {"blockDim.z", block.z, 64},
                  {"threads to a block", size_t(block.x) * block.y * block.z, MOST_THREADS}};
    for (auto& limit : limits) {
        if (limit.given && limit.given <= limit.most) continue;
        Inside inside;
        snprintf(text, sizeof text, limit.given ? "%s is %zu, and %zu at most" : "%s is 0", limit.name, limit.given, limit.most);
        return text;
    }
    return nullptr;
}

cudaError_t refused(cudaError_t code, const char* launch, const char* why, Where where) {
    char text[240];
    snprintf(text, sizeof text, "%s (%s)", launch, why);
    Inside inside;
    machine.refused_at = where;
    snprintf(machine.refused, sizeof machine.refused, "%s", why);
    return failed(code, text, where);
}

bool whole(uintptr_t address, size_t bytes) {
    Inside inside;
    Allocation* its = find(address);
    return its && address + bytes <= its->base + its->bytes;
}

// Device memory in reach of one copy; what it reads and writes besides is not the runtime's own.
template <class Copy> cudaError_t with_device(const void* to, const void* from, size_t bytes, Copy copy) {
    DeviceOpen device;
    if (is_private(uintptr_t(to), bytes) || is_private(uintptr_t(from), bytes)) {
        report("illegal_address", FAULT, 0, 0, "a copy of %zu bytes that touches the emulator's own memory", bytes);
        end_host_code(1);
    }
    copy();
    return cudaSuccess;
}

}  // namespace

extern "C" {

extern dim3 emu_blockDim, emu_gridDim;

int emu_launch(const Launch* launch, void (*thread)(const void*), const void* closure, size_t bytes, Site site) {
    DeviceOpen device;
    Where where = interned(site);
    if (sticky()) return sticky();
    if (machine.current) return failed(cudaErrorNotSupported, "a launch from a kernel", where);
    char text[120];
    if (const char* why = beyond(launch->grid, launch->block)) {
        snprintf(text, sizeof text, "a launch of (%u,%u,%u) blocks of (%u,%u,%u) threads", launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x,
                 launch->block.y, launch->block.z);
        return refused(cudaErrorInvalidConfiguration, text, why, where);
    }
    if (launch->shared > MOST_OPTED || (launch->shared > MOST_SHARED && launch->shared > allowed_shared)) {
        snprintf(text, sizeof text, "a launch with %zu bytes of dynamic shared memory", launch->shared);
        const char* why = launch->shared > MOST_OPTED ? "a block has 227 KiB" : "above 48 KiB needs cudaFuncSetAttribute";
        return refused(cudaErrorInvalidValue, text, why, where);
    }
    // who has read the error may launch it otherwise
    if (!pending) machine.refused[0] = 0;
    if (machine.planned) return 0;
    machine.launch = launch;
    machine.threads = launch->block.x * launch->block.y * launch->block.z;
    machine.closure = uintptr_t(closure), machine.closure_bytes = bytes;
    machine.patience = PATIENCE, machine.idle = 0;
    make_stacks(machine.threads);
    follow_thread();
    emu_blockDim = {launch->block.x, launch->block.y, launch->block.z};
    emu_gridDim = {launch->grid.x, launch->grid.y, launch->grid.z};
    choose_order();
    if (int code = sigsetjmp(machine.exit, 1)) {
        machine.current = nullptr;
        if (code != TURN_BACK) return 0;  // a kernel's own failure shows at the next synchronisation
        turn_back();
    }
    run_grid(thread, closure);
    return 0;
}

static cudaError_t allocated(uintptr_t* p, size_t bytes, bool host, Site site) {
    DeviceOpen device;
    Where where = interned(site);
    Allocation* made = allocate(bytes, where, "an allocation", host);
    if (!made) return failed(cudaErrorMemoryAllocation, "cudaMalloc", where);
    *p = made->base;
    return cudaSuccess;
}

// What the caller's pointers lead to is written behind the walls: they may lead anywhere.
cudaError_t emu_malloc(void** p, size_t bytes, int host, Site site) {
    if (sticky()) return cudaError_t(sticky());
    if (machine.current) return cudaErrorNotSupported;
    if (!p) return emu_record(cudaErrorInvalidValue, "cudaMalloc", site);
    uintptr_t made = 0;
    cudaError_t code = bytes ? allocated(&made, bytes, host != 0, site) : cudaSuccess;
    *p = (void*)made;
    return code;
}

cudaError_t cudaFree(void* p) {
    DeviceOpen device;
    if (sticky()) return cudaError_t(sticky());
    if (!p || release(uintptr_t(p))) return cudaSuccess;
    return failed(cudaErrorInvalidValue, "cudaFree of what was not allocated", 0);
}

static cudaError_t device_range(const void* p, size_t bytes, bool must, const char* call, Where where) {
    uintptr_t address = uintptr_t(p);
    if (!in_arena(address)) return must && address < (1u << 16) ? failed(cudaErrorInvalidValue, call, where) : cudaSuccess;
    return whole(address, bytes) ? cudaSuccess : failed(cudaErrorInvalidValue, call, where);
}

static cudaError_t may_copy(void* to, const void* from, size_t bytes, int kind, Site site) {
    Inside inside;
    if (sticky()) return cudaError_t(sticky());
    Where where = interned(site);
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (cudaError_t code = device_range(to, bytes, to_device, "cudaMemcpy to less memory than it copies", where)) return code;
    if (cudaError_t code = device_range(from, bytes, from_device, "cudaMemcpy from less memory than it copies", where)) return code;
    Allocation* sink = find(uintptr_t(to));
    if (sink && sink->read_only) report("input_written", FAULT, where, 0, "cudaMemcpy into the caller's input");
    if (sink && sink->answer && !in_device(uintptr_t(from)))
        report("host_copy", HAZARD, where, 0, "%zu bytes are copied from the host into %s: host code made that part of the answer", bytes, sink->name);
    Allocation* source = find(uintptr_t(from));
    bool made = in_device(uintptr_t(from)) || (source && source->written);
    if (made && !in_device(uintptr_t(to))) machine.brought_bytes += bytes;
    bool inputs = source && source->read_only && source->base == uintptr_t(from) && source->bytes == bytes;
    if ((sink = find(uintptr_t(to)))) sink->copy = inputs && sink->base == uintptr_t(to) && sink->bytes == bytes;
    return cudaSuccess;
}

cudaError_t emu_copy(void* to, const void* from, size_t bytes, int kind, Site site) {
    if (!bytes) return cudaError_t(sticky());
    if (cudaError_t code = may_copy(to, from, bytes, kind, site)) return code;
    // no kernel has made what the host would look at
    if (machine.planned && in_device(uintptr_t(from)) && !in_device(uintptr_t(to))) {
        Inside inside;
        end_host_code(1);
    }
    return with_device(to, from, bytes, [=] { memmove(to, from, bytes); });
}

cudaError_t emu_set(void* to, int value, size_t bytes, Site site) {
    if (!bytes) return cudaError_t(sticky());
    {
        Inside inside;
        if (sticky()) return cudaError_t(sticky());
        if (cudaError_t code = device_range(to, bytes, true, "cudaMemset of less memory than it sets", interned(site))) return code;
        if (Allocation* sink = find(uintptr_t(to))) sink->copy = false;
    }
    return with_device(to, nullptr, bytes, [=] { memset(to, value, bytes); });
}

cudaError_t emu_allow_shared(const void*, int attribute, int value, Site site) {
    Inside inside;
    if (sticky()) return cudaError_t(sticky());
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || size_t(value) > MOST_OPTED) return failed(cudaErrorInvalidValue, "cudaFuncSetAttribute beyond 227 KiB of shared memory", interned(site));
    if (size_t(value) > allowed_shared) allowed_shared = size_t(value);
    return cudaSuccess;
}

cudaError_t emu_record(cudaError_t code, const char* call, Site site) { return failed(code, call, interned(site)); }

cudaError_t cudaPeekAtLastError() { return cudaError_t(sticky() ? sticky() : pending); }
cudaError_t cudaGetLastError() {
    cudaError_t code = cudaPeekAtLastError();
    if (!pending) return code;
    Inside inside;
    pending = 0;
    return code;
}
cudaError_t cudaDeviceSynchronize() { return cudaError_t(sticky()); }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice, "cudaSetDevice", 0); }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "CPU emulator");
    p->totalGlobalMem = DEVICE, p->sharedMemPerBlock = MOST_SHARED, p->sharedMemPerBlockOptin = MOST_OPTED;
    p->sharedMemPerMultiprocessor = MOST_OPTED + 1024, p->reservedSharedMemPerBlock = 1024;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536, p->warpSize = 32, p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536, p->major = 9, p->minor = 0, p->multiProcessorCount = PROCESSORS, p->concurrentKernels = 1;
    p->l2CacheSize = 50 << 20, p->maxThreadsPerMultiProcessor = 2048, p->maxBlocksPerMultiProcessor = 32, p->managedMemory = 1;
    p->clockRate = 1980000, p->memoryClockRate = 2619000, p->memoryBusWidth = 5120;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
        case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *value = 1024; break;
        case cudaDevAttrMaxBlockDimZ: *value = 64; break;
        case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
        case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = int(p.sharedMemPerBlock); break;
        case cudaDevAttrTotalConstantMemory: *value = 65536; break;
        case cudaDevAttrWarpSize: *value = 32; break;
        case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: *value = 65536; break;
        case cudaDevAttrClockRate: *value = p.clockRate; break;
        case cudaDevAttrMultiProcessorCount: *value = PROCESSORS; break;
        case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
        case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
        case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = int(p.sharedMemPerMultiprocessor); break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = int(p.sharedMemPerBlockOptin); break;
        case cudaDevAttrMaxBlocksPerMultiprocessor: *value = 32; break;
        case cudaDevAttrReservedSharedMemoryPerBlock: *value = 1024; break;
        default: *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) { return *available = *total = DEVICE, cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return *stream = (cudaStream_t)uintptr_t(64), cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = (cudaEvent_t)calloc(1, sizeof(timespec)), cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    if (event) clock_gettime(CLOCK_MONOTONIC, (timespec*)event);
    return cudaError_t(sticky());
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
    const timespec *a = (const timespec*)start, *b = (const timespec*)stop;
    *ms = a && b ? float(double(b->tv_sec - a->tv_sec) * 1e3 + double(b->tv_nsec - a->tv_nsec) * 1e-6) : 0.0f;
    return cudaError_t(sticky());
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* its, const void* p) {
    bool device = in_device(uintptr_t(p)), known = whole(uintptr_t(p), 1) || (device && !in_arena(uintptr_t(p)));
    its->type = !known ? cudaMemoryTypeUnregistered : device ? cudaMemoryTypeDevice : cudaMemoryTypeManaged;
    its->device = 0;
    its->devicePointer = known ? (void*)p : nullptr;
    its->hostPointer = !known || !device ? (void*)p : nullptr;
    return cudaSuccess;
}
cudaError_t emu_attributes(cudaFuncAttributes* its) {
    memset(its, 0, sizeof *its);
    its->maxThreadsPerBlock = 1024, its->numRegs = 64, its->maxDynamicSharedSizeBytes = int(allowed_shared > MOST_SHARED ? allowed_shared : MOST_SHARED);
    its->ptxVersion = its->binaryVersion = 90;
    return cudaSuccess;
}
cudaError_t emu_occupancy(int* blocks, int threads, size_t shared) {
    int by_threads = threads > 0 ? 2048 / threads : 0, by_shared = int((MOST_OPTED + 1024) / (shared + 1024));
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t code) {
    switch (code) {
#define EMU_NAME(e) case e: return #e;
        EMU_NAME(cudaSuccess) EMU_NAME(cudaErrorInvalidValue) EMU_NAME(cudaErrorMemoryAllocation) EMU_NAME(cudaErrorInvalidConfiguration)
        EMU_NAME(cudaErrorInvalidSymbol) EMU_NAME(cudaErrorInvalidDevicePointer) EMU_NAME(cudaErrorInvalidDevice) EMU_NAME(cudaErrorNotReady)
        EMU_NAME(cudaErrorIllegalAddress) EMU_NAME(cudaErrorLaunchOutOfResources) EMU_NAME(cudaErrorLaunchTimeout) EMU_NAME(cudaErrorAssert)
        EMU_NAME(cudaErrorMisalignedAddress) EMU_NAME(cudaErrorLaunchFailure) EMU_NAME(cudaErrorNotSupported)
        default: return "cudaErrorUnknown";
#undef EMU_NAME
    }
}
const char* cudaGetErrorString(cudaError_t code) {
    switch (code) {
        case cudaSuccess: return "no error";
        case cudaErrorInvalidValue: return "invalid argument";
        case cudaErrorMemoryAllocation: return "out of memory";
        case cudaErrorInvalidConfiguration: return "invalid configuration argument";
        case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
        case cudaErrorLaunchTimeout: return "the launch timed out and was terminated";
        case cudaErrorMisalignedAddress: return "misaligned address";
        case cudaErrorAssert: return "device-side assert triggered";
        case cudaErrorLaunchFailure: return "unspecified launch failure";
        case cudaErrorNotSupported: return "operation not supported";
        default: return "unknown error";
    }
}

unsigned long long emu_clock() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

}

namespace emu {
int pending_error() { return pending; }
void forget_error() { pending = 0; }
}
