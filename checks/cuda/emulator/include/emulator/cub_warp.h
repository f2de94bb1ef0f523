// cub's collectives of a warp. A result that CUB leaves undefined in a lane is poison there.
#pragma once
#include "functional.h"
#include "groups.h"

namespace emu {

template <class T> inline T poisoned() {
    T value;
    unsigned char* bytes = (unsigned char*)&value;
    for (size_t i = 0; i < sizeof(T); i++) store(bytes + i, (unsigned char)(0x7fc0deadu >> (8 * (i % 4))));
    return value;
}

// The lanes of this thread's logical warp that the block has.
inline unsigned segment(int width) {
    unsigned lane = emu_lane(), low = lane & ~unsigned(width - 1), base = emu_thread() - lane, mask = 0;
    for (unsigned l = low; l < low + unsigned(width); l++)
        if (base + l < emu_threads()) mask |= 1u << l;
    return mask;
}

// Total of the first `valid` lanes, in lane 0 of the segment.
template <class T, class F> __forceinline__ T warp_reduced(T value, F f, int width, int valid, Site site) {
    unsigned mask = segment(width);
    int lane = int(emu_lane()) & (width - 1), present = __popc(mask);
    if (valid > present) valid = present;
    for (int d = 1; d < width; d *= 2) {
        T other = shuffled_whole(SHUFFLE_DOWN, mask, value, lane + d < present ? d : 0, width, site);
        if (lane % (2 * d) == 0 && lane + d < valid) value = f(value, other);
    }
    return lane == 0 ? value : poisoned<T>();
}

template <class T, class F> __forceinline__ T warp_scanned(T value, F f, int width, Site site) {
    unsigned mask = segment(width);
    int lane = int(emu_lane()) & (width - 1);
    for (int d = 1; d < width; d *= 2) {
        T other = shuffled_whole(SHUFFLE_UP, mask, value, d, width, site);
        if (lane >= d) value = f(other, value);
    }
    return value;
}

}  // namespace emu

namespace cub {

template <class T, int Width = 32, int = 0> class WarpReduce {
public:
    struct TempStorage { char none; };
    explicit WarpReduce(TempStorage&) {}
    T Sum(T v, emu::Site s = emu::here()) { return emu::warp_reduced(v, cub::Sum(), Width, Width, s); }
    T Sum(T v, int valid, emu::Site s = emu::here()) { return emu::warp_reduced(v, cub::Sum(), Width, valid, s); }
    template <class F> T Reduce(T v, F f, emu::Site s = emu::here()) { return emu::warp_reduced(v, f, Width, Width, s); }
    template <class F> T Reduce(T v, F f, int valid, emu::Site s = emu::here()) { return emu::warp_reduced(v, f, Width, valid, s); }
};

template <class T, int Width = 32, int = 0> class WarpScan {
public:
    struct TempStorage { char none; };
    explicit WarpScan(TempStorage&) {}
    template <class F> void InclusiveScan(T v, T& out, F f, emu::Site s = emu::here()) { out = emu::warp_scanned(v, f, Width, s); }
    template <class F> void ExclusiveScan(T v, T& out, T first, F f, emu::Site s = emu::here()) {
        T up = emu::shuffled_whole(emu::SHUFFLE_UP, emu::segment(Width), emu::warp_scanned(v, f, Width, s), 1, Width, s);
        out = (emu_lane() & (Width - 1)) ? f(first, up) : first;
    }
    void InclusiveSum(T v, T& out, emu::Site s = emu::here()) { InclusiveScan(v, out, cub::Sum(), s); }
    void InclusiveSum(T v, T& out, T& total, emu::Site s = emu::here()) {
        InclusiveScan(v, out, cub::Sum(), s);
        total = emu::shuffled_whole(emu::SHUFFLE_INDEX, emu::segment(Width), out, __popc(emu::segment(Width)) - 1, Width, s);
    }
    void ExclusiveSum(T v, T& out, emu::Site s = emu::here()) { ExclusiveScan(v, out, T(0), cub::Sum(), s); }
    T Broadcast(T v, unsigned lane, emu::Site s = emu::here()) { return emu::shuffled_whole(emu::SHUFFLE_INDEX, emu::segment(Width), v, int(lane), Width, s); }
};

}  // namespace cub
