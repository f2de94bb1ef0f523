// cub's collectives of a block. As in CUB, there is no barrier at their end: whoever uses the storage again needs one.
#pragma once
#include "cub_warp.h"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0> class BlockReduce {
    static constexpr int Threads = X * Y * Z, Warps = (Threads + 31) / 32;

public:
    struct TempStorage { T totals[Warps]; };

private:
    TempStorage& temp;

    template <class F> __forceinline__ T whole(T v, F f, int valid, emu::Site s) {
        int tid = int(emu_thread()), warp = tid / 32;
        T mine = emu::warp_reduced(v, f, 32, valid - warp * 32, s);
        if (tid % 32 == 0) temp.totals[warp] = mine;
        emu_barrier(emu::BARRIER_PLAIN, 0, s);
        if (tid) return emu::poisoned<T>();
        for (int w = 1; w < Warps && w * 32 < valid; w++) mine = f(mine, temp.totals[w]);
        return mine;
    }
    template <int N, class F> __forceinline__ T own(T (&items)[N], F f) {
        T v = items[0];
        for (int i = 1; i < N; i++) v = f(v, items[i]);
        return v;
    }

public:
    __forceinline__ explicit BlockReduce(TempStorage& t) : temp(t) {}
    __forceinline__ T Sum(T v, emu::Site s = emu::here()) { return whole(v, cub::Sum(), Threads, s); }
    __forceinline__ T Sum(T v, int valid, emu::Site s = emu::here()) { return whole(v, cub::Sum(), valid, s); }
    template <int N> __forceinline__ T Sum(T (&items)[N], emu::Site s = emu::here()) { return whole(own(items, cub::Sum()), cub::Sum(), Threads, s); }
    template <class F> __forceinline__ T Reduce(T v, F f, emu::Site s = emu::here()) { return whole(v, f, Threads, s); }
    template <class F> __forceinline__ T Reduce(T v, F f, int valid, emu::Site s = emu::here()) { return whole(v, f, valid, s); }
    template <int N, class F> __forceinline__ T Reduce(T (&items)[N], F f, emu::Site s = emu::here()) { return whole(own(items, f), f, Threads, s); }
};

template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> class BlockScan {
    static constexpr int Threads = X * Y * Z, Warps = (Threads + 31) / 32;

public:
    struct TempStorage { T totals[Warps]; };

private:
    TempStorage& temp;

    // Inclusive within the block; `before` is the total of the threads before this one, if there are any.
    template <class F> __forceinline__ T scanned(T v, F f, T& before, bool& any, T& total, emu::Site s) {
        int tid = int(emu_thread()), warp = tid / 32, lane = tid % 32;
        T in_warp = emu::warp_scanned(v, f, 32, s);
        T up = emu::shuffled_whole(emu::SHUFFLE_UP, emu::segment(32), in_warp, 1, 32, s);
        if (lane == 31 || tid == Threads - 1) temp.totals[warp] = in_warp;
        emu_barrier(emu::BARRIER_PLAIN, 0, s);
        T earlier = emu::poisoned<T>();
        total = temp.totals[0];
        for (int w = 0; w < Warps; w++) {
            if (w) total = f(total, temp.totals[w]);
            if (w + 1 == warp) earlier = total;
        }
        any = tid > 0;
        before = lane == 0 ? earlier : warp ? f(earlier, up) : up;
        return warp ? f(earlier, in_warp) : in_warp;
    }
    template <int N, class F> __forceinline__ void many(T (&in)[N], T (&out)[N], F f, bool inclusive, bool has_first, T first, T& total, emu::Site s) {
        T own = in[0], before;
        bool any;
        for (int i = 1; i < N; i++) own = f(own, in[i]);
        scanned(own, f, before, any, total, s);
        T running = any ? (has_first ? f(first, before) : before) : first;
        bool begun = any || has_first;
        for (int i = 0; i < N; i++) {
            T next = begun ? f(running, in[i]) : in[i];
            out[i] = inclusive ? next : running;
            running = next, begun = true;
        }
    }

public:
    __forceinline__ explicit BlockScan(TempStorage& t) : temp(t) {}
    template <class F> __forceinline__ void InclusiveScan(T v, T& out, F f, T& total, emu::Site s = emu::here()) {
        T before; bool any;
        out = scanned(v, f, before, any, total, s);
    }
    template <class F> __forceinline__ void InclusiveScan(T v, T& out, F f, emu::Site s = emu::here()) { T total; InclusiveScan(v, out, f, total, s); }
    template <class F> __forceinline__ void ExclusiveScan(T v, T& out, T first, F f, T& total, emu::Site s = emu::here()) {
        T before; bool any;
        scanned(v, f, before, any, total, s);
        out = any ? f(first, before) : first;
    }
    template <class F> __forceinline__ void ExclusiveScan(T v, T& out, T first, F f, emu::Site s = emu::here()) { T total; ExclusiveScan(v, out, first, f, total, s); }
    __forceinline__ void InclusiveSum(T v, T& out, emu::Site s = emu::here()) { InclusiveScan(v, out, cub::Sum(), s); }
    __forceinline__ void InclusiveSum(T v, T& out, T& total, emu::Site s = emu::here()) { InclusiveScan(v, out, cub::Sum(), total, s); }
    __forceinline__ void ExclusiveSum(T v, T& out, emu::Site s = emu::here()) { ExclusiveScan(v, out, T(0), cub::Sum(), s); }
    __forceinline__ void ExclusiveSum(T v, T& out, T& total, emu::Site s = emu::here()) { ExclusiveScan(v, out, T(0), cub::Sum(), total, s); }
    template <int N> __forceinline__ void InclusiveSum(T (&in)[N], T (&out)[N], emu::Site s = emu::here()) { T total; many(in, out, cub::Sum(), true, false, T(0), total, s); }
    template <int N> __forceinline__ void ExclusiveSum(T (&in)[N], T (&out)[N], emu::Site s = emu::here()) { T total; many(in, out, cub::Sum(), false, true, T(0), total, s); }
    template <int N> __forceinline__ void ExclusiveSum(T (&in)[N], T (&out)[N], T& total, emu::Site s = emu::here()) { many(in, out, cub::Sum(), false, true, T(0), total, s); }
};

}  // namespace cub
