// cub's sorts of a block, and its loads and stores. One thread sorts while the others wait; the result is CUB's: stable.
#pragma once
#include "cub_block.h"

namespace cub {

struct NullType {};
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };

}  // namespace cub

namespace cub {

template <class K, int X, int N, class V = NullType, int = 4, bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int Y = 1, int Z = 1, int = 0>
class BlockRadixSort {
    static constexpr int Threads = X * Y * Z, All = Threads * N, Bits = int(sizeof(K)) * 8;
    static constexpr int Kind = !std::is_integral<K>::value ? emu::SORT_FLOATS : std::is_signed<K>::value ? emu::SORT_SIGNED : emu::SORT_UNSIGNED;

public:
    struct TempStorage {
        K keys[All];
        V values[All];
        int places[All];
    };

private:
    TempStorage& temp;

    __forceinline__ void sort(K (&keys)[N], V* values, bool descending, bool striped, int first, int last, emu::Site s) {
        int tid = int(emu_thread());
        for (int i = 0; i < N; i++) {
            temp.keys[tid * N + i] = keys[i];
            if (values) temp.values[tid * N + i] = values[i];
            temp.places[tid * N + i] = 0;
        }
        emu_barrier(emu::BARRIER_PLAIN, 0, s);
        if (tid == 0) emu_sort(temp.keys, int(sizeof(K)), Kind, temp.places, All, descending, first, last);
        emu_barrier(emu::BARRIER_PLAIN, 0, s);
        for (int i = 0; i < N; i++) {
            int from = temp.places[striped ? i * Threads + tid : tid * N + i];
            keys[i] = temp.keys[from];
            if (values) values[i] = temp.values[from];
        }
    }

public:
    __forceinline__ explicit BlockRadixSort(TempStorage& t) : temp(t) {}
    __forceinline__ void Sort(K (&k)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, nullptr, false, false, b, e, s); }
    __forceinline__ void Sort(K (&k)[N], V (&v)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, v, false, false, b, e, s); }
    __forceinline__ void SortDescending(K (&k)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, nullptr, true, false, b, e, s); }
    __forceinline__ void SortDescending(K (&k)[N], V (&v)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, v, true, false, b, e, s); }
    __forceinline__ void SortBlockedToStriped(K (&k)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, nullptr, false, true, b, e, s); }
    __forceinline__ void SortBlockedToStriped(K (&k)[N], V (&v)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, v, false, true, b, e, s); }
    __forceinline__ void SortDescendingBlockedToStriped(K (&k)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, nullptr, true, true, b, e, s); }
    __forceinline__ void SortDescendingBlockedToStriped(K (&k)[N], V (&v)[N], int b = 0, int e = Bits, emu::Site s = emu::here()) { sort(k, v, true, true, b, e, s); }
};

template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0> class BlockLoad {
    static int at(int i) { return A == BLOCK_LOAD_STRIPED ? i * X * Y * Z + int(emu_thread()) : int(emu_thread()) * N + i; }

public:
    struct TempStorage { char none; };
    BlockLoad() {}
    explicit BlockLoad(TempStorage&) {}
    template <class P> __forceinline__ void Load(P from, T (&items)[N]) {
        for (int i = 0; i < N; i++) items[i] = from[at(i)];
    }
    template <class P> __forceinline__ void Load(P from, T (&items)[N], int valid) {
        for (int i = 0; i < N; i++)
            if (at(i) < valid) items[i] = from[at(i)];
    }
    template <class P, class D> __forceinline__ void Load(P from, T (&items)[N], int valid, D other) {
        for (int i = 0; i < N; i++) items[i] = at(i) < valid ? T(from[at(i)]) : T(other);
    }
};

template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0> class BlockStore {
    static int at(int i) { return A == BLOCK_STORE_STRIPED ? i * X * Y * Z + int(emu_thread()) : int(emu_thread()) * N + i; }

public:
    struct TempStorage { char none; };
    BlockStore() {}
    explicit BlockStore(TempStorage&) {}
    template <class P> __forceinline__ void Store(P to, T (&items)[N]) {
        for (int i = 0; i < N; i++) to[at(i)] = items[i];
    }
    template <class P> __forceinline__ void Store(P to, T (&items)[N], int valid) {
        for (int i = 0; i < N; i++)
            if (at(i) < valid) to[at(i)] = items[i];
    }
};

}  // namespace cub
