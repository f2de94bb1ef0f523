// What the compiler calls at every access (-fsanitize=thread) and wherever an index or an alignment
// is off (-fsanitize=bounds-strict,alignment); the sanitizers' own runtimes are not linked.
#include <cstring>
#include "state.h"

using namespace emu;

#define HERE at(__builtin_return_address(0))

extern "C" {

#define EMU_HOOKS(n)                                                                                             \
    void __tsan_read##n(void* p) { checked(uintptr_t(p), n, READ, HERE); }                                        \
    void __tsan_write##n(void* p) { checked(uintptr_t(p), n, WRITE, HERE); }                                      \
    void __tsan_unaligned_read##n(void* p) { checked(uintptr_t(p), n, READ | UNALIGNED, HERE); }                  \
    void __tsan_unaligned_write##n(void* p) { checked(uintptr_t(p), n, WRITE | UNALIGNED, HERE); }                \
    void __tsan_volatile_read##n(void* p) { checked(uintptr_t(p), n, READ | ATOMIC, HERE); }                      \
    void __tsan_volatile_write##n(void* p) { checked(uintptr_t(p), n, WRITE | ATOMIC, HERE); }                    \
    void __tsan_unaligned_volatile_read##n(void* p) { checked(uintptr_t(p), n, READ | ATOMIC | UNALIGNED, HERE); } \
    void __tsan_unaligned_volatile_write##n(void* p) { checked(uintptr_t(p), n, WRITE | ATOMIC | UNALIGNED, HERE); }
EMU_HOOKS(1)
EMU_HOOKS(2)
EMU_HOOKS(4)
EMU_HOOKS(8)
EMU_HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* p, size_t n) { checked(uintptr_t(p), n, READ | UNALIGNED, HERE); }
void __tsan_write_range(void* p, size_t n) { checked(uintptr_t(p), n, WRITE | UNALIGNED, HERE); }

// Host code's own atomics (a static variable's guard, a shared pointer) are no concern of ours, where they are the host's.
#define EMU_HOST_ATOMIC(bits, R, name, parameters, access, value) \
    R __tsan_atomic##bits##_##name parameters {                   \
        host_checked(uintptr_t(p), bits / 8, access, HERE);       \
        return value;                                             \
    }
#define EMU_HOST_ATOMICS(bits, T)                                                                                        \
    EMU_HOST_ATOMIC(bits, T, load, (const volatile T* p, int), READ, __atomic_load_n(p, 5)) \
    EMU_HOST_ATOMIC(bits, void, store, (volatile T* p, T v, int), WRITE, __atomic_store_n(p, v, 5)) \
    EMU_HOST_ATOMIC(bits, T, exchange, (volatile T* p, T v, int), WRITE, __atomic_exchange_n(p, v, 5)) \
    EMU_HOST_ATOMIC(bits, T, fetch_add, (volatile T* p, T v, int), WRITE, __atomic_fetch_add(p, v, 5)) \
    EMU_HOST_ATOMIC(bits, T, fetch_sub, (volatile T* p, T v, int), WRITE, __atomic_fetch_sub(p, v, 5)) \
    EMU_HOST_ATOMIC(bits, T, fetch_and, (volatile T* p, T v, int), WRITE, __atomic_fetch_and(p, v, 5)) \
    EMU_HOST_ATOMIC(bits, T, fetch_or, (volatile T* p, T v, int), WRITE, __atomic_fetch_or(p, v, 5)) \
    EMU_HOST_ATOMIC(bits, T, fetch_xor, (volatile T* p, T v, int), WRITE, __atomic_fetch_xor(p, v, 5)) \
    EMU_HOST_ATOMIC(bits, int, compare_exchange_strong, (volatile T* p, T* e, T v, int, int), WRITE, __atomic_compare_exchange_n(p, e, v, false, 5, 5)) \
    EMU_HOST_ATOMIC(bits, int, compare_exchange_weak, (volatile T* p, T* e, T v, int, int), WRITE, __atomic_compare_exchange_n(p, e, v, true, 5, 5))
EMU_HOST_ATOMICS(8, unsigned char)
EMU_HOST_ATOMICS(16, unsigned short)
EMU_HOST_ATOMICS(32, unsigned)
EMU_HOST_ATOMICS(64, unsigned long)
void __tsan_atomic_thread_fence(int) {
    __atomic_thread_fence(5);
    emu_fence();
}
void __tsan_atomic_signal_fence(int) {}

// ---- the undefined-behaviour checks: their data begins with a file, a line and a column
struct Place {
    const char* file;
    unsigned line, column;
};
struct Type {
    unsigned short kind, info;
    char name[1];
};
struct OutOfBounds {
    Place place;
    const Type *array, *index;
};
struct Mismatch {
    Place place;
    const Type* type;
    unsigned char log_alignment, kind;
};

void __ubsan_handle_out_of_bounds(OutOfBounds* data, void* index) {
    if (!machine.current) return;
    long long value = (long long)(intptr_t)index;
    if ((data->index->info & 1) && (data->index->info >> 1) < 6) value = (int)value;
    report("out_of_bounds", FAULT, interned({data->place.file, int(data->place.line)}), 0, "index %lld of an array of type %s", value, data->array->name);
}

void __ubsan_handle_type_mismatch_v1(Mismatch* data, void* pointer) {
    enum { MEMBER_ACCESS = 3 };
    size_t alignment = size_t(1) << data->log_alignment;
    if (!machine.current || !pointer || uintptr_t(pointer) % alignment == 0) return;
    Where where = interned({data->place.file, int(data->place.line)});
    bool part = data->kind == MEMBER_ACCESS;
    report("misaligned_access", part ? HAZARD : FAULT, where, 0, "%s at an address that is %zu past a multiple of %zu", data->type->name,
           size_t(uintptr_t(pointer) % alignment), alignment);
    if (!part) abort_launch(716);
}

void __ubsan_handle_out_of_bounds_abort(OutOfBounds* data, void* index) { __ubsan_handle_out_of_bounds(data, index); }
void __ubsan_handle_type_mismatch_v1_abort(Mismatch* data, void* pointer) { __ubsan_handle_type_mismatch_v1(data, pointer); }

void emu_access(const void* address, size_t bytes, unsigned access, Site site) {
    checked(uintptr_t(address), bytes, access, interned(site));
}

void emu_trap(Site site, const char* text) {
    if (!machine.current) __builtin_trap();
    report("trap", FAULT, interned(site), 0, "%s", text);
    abort_launch(719);
}

void __assert_fail(const char* text, const char* file, unsigned line, const char*) noexcept {
    if (!machine.current) __builtin_trap();
    report("trap", FAULT, interned({file, int(line)}), 0, "assertion failed: %s", text);
    abort_launch(710);
}

}
