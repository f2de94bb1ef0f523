// Barriers, and what the lanes of a warp exchange.
#pragma once
#include <cstring>
#include <type_traits>
#include "qualifiers.h"

namespace emu {

template <class T> inline uint64_t bits(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    uint64_t raw = 0;
    __builtin_memcpy(&raw, &value, sizeof(T));
    return raw;
}

template <class T> inline T from_bits(uint64_t raw) {
    T value;
    __builtin_memcpy(&value, &raw, sizeof(T));
    return value;
}

template <class T> inline T shuffled(Shuffle kind, unsigned mask, T value, int argument, int width, Site site) {
    return from_bits<T>(emu_shuffle(kind, mask, bits(value), argument, width, site));
}

}  // namespace emu

template <class T> inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffled(emu::SHUFFLE_INDEX, mask, value, lane, width, site);
}
template <class T> inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffled(emu::SHUFFLE_UP, mask, value, int(delta), width, site);
}
template <class T> inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffled(emu::SHUFFLE_DOWN, mask, value, int(delta), width, site);
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffled(emu::SHUFFLE_XOR, mask, value, lanes, width, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, emu::Site site = emu::here()) { return emu_vote(emu::VOTE_BALLOT, mask, predicate, site); }
inline int __any_sync(unsigned mask, int predicate, emu::Site site = emu::here()) { return int(emu_vote(emu::VOTE_ANY, mask, predicate, site)); }
inline int __all_sync(unsigned mask, int predicate, emu::Site site = emu::here()) { return int(emu_vote(emu::VOTE_ALL, mask, predicate, site)); }
inline int __uni_sync(unsigned mask, int predicate, emu::Site site = emu::here()) { return int(emu_vote(emu::VOTE_UNI, mask, predicate, site)); }
inline unsigned __activemask(emu::Site site = emu::here()) { return emu_activemask(site); }

template <class T> inline unsigned __match_any_sync(unsigned mask, T value, emu::Site site = emu::here()) {
    return emu_match(emu::MATCH_ANY, mask, emu::bits(value), nullptr, site);
}
template <class T> inline unsigned __match_all_sync(unsigned mask, T value, int* all, emu::Site site = emu::here()) {
    int same = 0;
    unsigned found = emu_match(emu::MATCH_ALL, mask, emu::bits(value), &same, site);
    *all = same;
    return found;
}

inline unsigned __reduce_add_sync(unsigned m, unsigned v, emu::Site s = emu::here()) { return emu_reduce(emu::REDUCE_ADD, m, v, s); }
inline unsigned __reduce_min_sync(unsigned m, unsigned v, emu::Site s = emu::here()) { return emu_reduce(emu::REDUCE_MIN, m, v, s); }
inline unsigned __reduce_max_sync(unsigned m, unsigned v, emu::Site s = emu::here()) { return emu_reduce(emu::REDUCE_MAX, m, v, s); }
inline int __reduce_add_sync(unsigned m, int v, emu::Site s = emu::here()) { return int(emu_reduce(emu::REDUCE_ADD, m, unsigned(v), s)); }
inline int __reduce_min_sync(unsigned m, int v, emu::Site s = emu::here()) { return int(emu_reduce(emu::REDUCE_MIN_SIGNED, m, unsigned(v), s)); }
inline int __reduce_max_sync(unsigned m, int v, emu::Site s = emu::here()) { return int(emu_reduce(emu::REDUCE_MAX_SIGNED, m, unsigned(v), s)); }
inline unsigned __reduce_and_sync(unsigned m, unsigned v, emu::Site s = emu::here()) { return emu_reduce(emu::REDUCE_AND, m, v, s); }
inline unsigned __reduce_or_sync(unsigned m, unsigned v, emu::Site s = emu::here()) { return emu_reduce(emu::REDUCE_OR, m, v, s); }
inline unsigned __reduce_xor_sync(unsigned m, unsigned v, emu::Site s = emu::here()) { return emu_reduce(emu::REDUCE_XOR, m, v, s); }

inline void __syncwarp(unsigned mask = 0xffffffffu, emu::Site site = emu::here()) { emu_syncwarp(mask, site); }
inline void __syncthreads(emu::Site site = emu::here()) { emu_barrier(emu::BARRIER_PLAIN, 0, site); }
inline int __syncthreads_count(int predicate, emu::Site site = emu::here()) { return emu_barrier(emu::BARRIER_COUNT, predicate, site); }
inline int __syncthreads_and(int predicate, emu::Site site = emu::here()) { return emu_barrier(emu::BARRIER_AND, predicate, site); }
inline int __syncthreads_or(int predicate, emu::Site site = emu::here()) { return emu_barrier(emu::BARRIER_OR, predicate, site); }

// Fences order what atomics and volatile accesses publish; the emulator orders at those. It counts fences between blocks.
inline void __threadfence() {
    __asm__ volatile("" ::: "memory");
    emu_fence();
}
inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { emu_pause(); }
inline void __trap(emu::Site site = emu::here()) { emu_trap(site, "__trap()"); }
inline void __brkpt() {}
inline long long clock64() { return (long long)emu_clock(); }
inline int emu_clock32() { return int(emu_clock()); }
inline void __prof_trigger(int) {}
