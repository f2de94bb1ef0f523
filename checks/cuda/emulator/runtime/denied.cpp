// The submission's calls of the C library that would take the walls down.
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "state.h"
#include "walls.h"

using namespace emu;

#define HERE at(__builtin_return_address(0))

namespace {

[[noreturn]] void refused(const char* name, Where where) {
    lower_walls();
    report("illegal_address", FAULT, where, 0, "host code calls %s, which would open what is closed to it", name);
    if (machine.current) abort_launch(719);
    end_host_code(1);
}

// Whether a range is neither device memory nor the runtime's own.
bool free_of_walls(const void* p, size_t bytes) {
    return !within(Wall::DEVICE, uintptr_t(p), bytes) && !is_private(uintptr_t(p), bytes);
}

void ranged(const void* p, size_t bytes, unsigned access, Where where) {
    if (machine.current && bytes) checked(uintptr_t(p), bytes, access | UNALIGNED, where);
    else if (access & READ) brought(uintptr_t(p), bytes);
}

}  // namespace

extern "C" {

#define DENIED(name) \
    void emu_denied_##name() { refused(#name, HERE); }
#define GUARDED(name)
#include "denied.h"
#undef DENIED
#undef GUARDED

void* emu_denied_memcpy(void* to, const void* from, size_t bytes) {
    ranged(from, bytes, READ, HERE), ranged(to, bytes, WRITE, HERE);
    return memcpy(to, from, bytes);
}
void* emu_denied_memmove(void* to, const void* from, size_t bytes) {
    ranged(from, bytes, READ, HERE), ranged(to, bytes, WRITE, HERE);
    return memmove(to, from, bytes);
}
void* emu_denied_memset(void* to, int value, size_t bytes) {
    ranged(to, bytes, WRITE, HERE);
    return memset(to, value, bytes);
}

int emu_denied_madvise(void* p, size_t bytes, int advice) {
    if (!free_of_walls(p, bytes)) refused("madvise", HERE);
    return madvise(p, bytes, advice);
}
int emu_denied_mprotect(void* p, size_t bytes, int protection) {
    if (!free_of_walls(p, bytes)) refused("mprotect", HERE);
    return mprotect(p, bytes, protection);
}
int emu_denied_munmap(void* p, size_t bytes) {
    if (!free_of_walls(p, bytes)) refused("munmap", HERE);
    return munmap(p, bytes);
}
void* emu_denied_mmap(void* p, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (p && !free_of_walls(p, bytes)) refused("mmap", HERE);
    return mmap(p, bytes, protection, flags, fd, offset);
}
void* emu_denied_mmap64(void* p, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (p && !free_of_walls(p, bytes)) refused("mmap64", HERE);
    return mmap(p, bytes, protection, flags, fd, offset);
}
void* emu_denied_mremap(void* p, size_t bytes, size_t wanted, int flags, void* to) {
    if (!free_of_walls(p, bytes) || ((flags & MREMAP_FIXED) && !free_of_walls(to, wanted))) refused("mremap", HERE);
    return mremap(p, bytes, wanted, flags, to);
}

// The standard library's atomics wait and wake by this one; the rest has functions of its own.
long emu_denied_syscall(long number, ...) {
    if (number != SYS_futex && number != SYS_gettid && number != SYS_getpid) refused("syscall", HERE);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (long& each : a) each = va_arg(arguments, long);
    va_end(arguments);
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}
