// Cooperative groups: blocks, tiles of a warp, coalesced threads; a grid only where it is one block.
#pragma once
#include "math.h"
#include "warp.h"

namespace emu {
// Any trivially copyable value, eight bytes at a time.
template <class T> inline T shuffled_whole(Shuffle kind, unsigned mask, const T& value, int argument, int width, Site site) {
    static_assert(std::is_trivially_copyable<T>::value, "only what can be copied byte by byte is exchanged");
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (size_t i = 0; i * 8 < sizeof(T); i++) words[i] = emu_shuffle(kind, mask, words[i], argument, width, site);
    T result;
    __builtin_memcpy(&result, words, sizeof(T));
    return result;
}

// The same, of a group: CUDA's own limit is 32 bytes.
template <class T> inline T exchanged(Shuffle kind, unsigned mask, const T& value, int argument, int width, Site site) {
    static_assert(sizeof(T) <= 32, "a group exchanges at most 32 bytes");
    return shuffled_whole(kind, mask, value, argument, width, site);
}
}  // namespace emu

namespace cooperative_groups {

class thread_block {
public:
    void sync(emu::Site site = emu::here()) const { emu_barrier(emu::BARRIER_PLAIN, 0, site); }
    unsigned thread_rank() const { return emu_thread(); }
    unsigned size() const { return emu_threads(); }
    unsigned num_threads() const { return emu_threads(); }
    dim3 group_index() const { return dim3(blockIdx); }
    dim3 thread_index() const { return dim3(threadIdx); }
    dim3 group_dim() const { return blockDim; }
    dim3 dim_threads() const { return blockDim; }
    struct arrival_token {};
    arrival_token barrier_arrive() const { return {}; }
    void barrier_wait(arrival_token&&, emu::Site site = emu::here()) const { sync(site); }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
public:
    // Blocks run one after another, so a barrier of several can never open.
    __attribute__((error("a barrier of the whole grid is not emulated"))) void sync() const;
    bool is_valid() const { return false; }
    unsigned long long block_rank() const { return (blockIdx.z * gridDim.y + blockIdx.y) * (unsigned long long)gridDim.x + blockIdx.x; }
    unsigned long long thread_rank() const { return block_rank() * emu_threads() + emu_thread(); }
    unsigned long long size() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * emu_threads(); }
    unsigned long long num_threads() const { return size(); }
    dim3 group_dim() const { return gridDim; }
};
inline grid_group this_grid() { return {}; }

// What a tile and coalesced threads have in common: a mask of lanes, and ranks within it.
template <class Its> class lanes_of {
    const Its& its() const { return static_cast<const Its&>(*this); }

public:
    void sync(emu::Site site = emu::here()) const { emu_syncwarp(its().mask(), site); }
    unsigned num_threads() const { return its().size(); }
    int any(int predicate, emu::Site site = emu::here()) const { return int(emu_vote(emu::VOTE_ANY, its().mask(), predicate, site)); }
    int all(int predicate, emu::Site site = emu::here()) const { return int(emu_vote(emu::VOTE_ALL, its().mask(), predicate, site)); }
    unsigned ballot(int predicate, emu::Site site = emu::here()) const { return its().packed(emu_vote(emu::VOTE_BALLOT, its().mask(), predicate, site)); }
    template <class T> unsigned match_any(T value, emu::Site site = emu::here()) const {
        return its().packed(emu_match(emu::MATCH_ANY, its().mask(), emu::bits(value), nullptr, site));
    }
    template <class T> unsigned match_all(T value, int& all, emu::Site site = emu::here()) const {
        return its().packed(emu_match(emu::MATCH_ALL, its().mask(), emu::bits(value), &all, site));
    }
};

template <unsigned Size, class Parent = void> class thread_block_tile : public lanes_of<thread_block_tile<Size, Parent>> {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "tiles of more than a warp are not emulated");
    static unsigned low() { return emu_lane() & ~(Size - 1); }

public:
    static unsigned mask() { return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1u) << low(); }
    static unsigned packed(unsigned lanes) { return Size == 32 ? lanes : (lanes >> low()) & ((1u << (Size & 31)) - 1u); }
    unsigned thread_rank() const { return emu_lane() & (Size - 1); }
    static constexpr unsigned size() { return Size; }
    unsigned meta_group_rank() const { return emu_thread() / Size; }
    unsigned meta_group_size() const { return (emu_threads() + Size - 1) / Size; }
    template <class T> T shfl(const T& v, int rank, emu::Site s = emu::here()) const { return emu::exchanged(emu::SHUFFLE_INDEX, mask(), v, rank, Size, s); }
    template <class T> T shfl_up(const T& v, unsigned d, emu::Site s = emu::here()) const { return emu::exchanged(emu::SHUFFLE_UP, mask(), v, int(d), Size, s); }
    template <class T> T shfl_down(const T& v, unsigned d, emu::Site s = emu::here()) const { return emu::exchanged(emu::SHUFFLE_DOWN, mask(), v, int(d), Size, s); }
    template <class T> T shfl_xor(const T& v, unsigned m, emu::Site s = emu::here()) const { return emu::exchanged(emu::SHUFFLE_XOR, mask(), v, int(m), Size, s); }
};

class coalesced_group : public lanes_of<coalesced_group> {
    unsigned lanes_;
    unsigned nth(unsigned rank) const {
        unsigned left = lanes_;
        while (rank-- && left) left &= left - 1;
        return left ? unsigned(__builtin_ctz(left)) : emu_lane();
    }

public:
    explicit coalesced_group(unsigned lanes) : lanes_(lanes) {}
    unsigned mask() const { return lanes_; }
    unsigned packed(unsigned lanes) const {
        unsigned r = 0, n = 0;
        for (unsigned left = lanes_; left; left &= left - 1) r |= ((lanes >> __builtin_ctz(left)) & 1u) << n++;
        return r;
    }
    unsigned size() const { return unsigned(__popc(lanes_)); }
    unsigned thread_rank() const { return unsigned(__popc(lanes_ & ((1u << emu_lane()) - 1u))); }
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
    template <class T> T shfl(const T& v, unsigned rank, emu::Site s = emu::here()) const { return emu::exchanged(emu::SHUFFLE_INDEX, lanes_, v, int(nth(rank)), 32, s); }
    template <class T> T shfl_up(const T& v, unsigned d, emu::Site s = emu::here()) const {
        unsigned rank = thread_rank();
        return emu::exchanged(emu::SHUFFLE_INDEX, lanes_, v, int(nth(rank >= d ? rank - d : rank)), 32, s);
    }
    template <class T> T shfl_down(const T& v, unsigned d, emu::Site s = emu::here()) const {
        unsigned rank = thread_rank();
        return emu::exchanged(emu::SHUFFLE_INDEX, lanes_, v, int(nth(rank + d < size() ? rank + d : rank)), 32, s);
    }
};
inline coalesced_group coalesced_threads(emu::Site site = emu::here()) { return coalesced_group(emu_activemask(site)); }

template <unsigned Size, class Parent> inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) { return {}; }

template <class T> struct plus { T operator()(const T& a, const T& b) const { return a + b; } };
template <class T> struct less { T operator()(const T& a, const T& b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(const T& a, const T& b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(const T& a, const T& b) const { return a & b; } };
template <class T> struct bit_or { T operator()(const T& a, const T& b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(const T& a, const T& b) const { return a ^ b; } };

template <class Group, class T, class F> inline T reduce(const Group& group, T value, F&& f, emu::Site site = emu::here()) {
    T total = group.shfl(value, 0, site);
    for (unsigned i = 1; i < group.size(); i++) total = f(total, group.shfl(value, int(i), site));
    return total;
}
template <class Group, class T, class F> inline T inclusive_scan(const Group& group, T value, F&& f, emu::Site site = emu::here()) {
    T total = value, mine = value;
    for (unsigned i = 0; i < group.size(); i++) {
        T next = group.shfl(value, int(i), site);
        total = i ? f(total, next) : next;
        if (i == group.thread_rank()) mine = total;
    }
    return mine;
}
template <class Group, class T> inline T inclusive_scan(const Group& group, T value, emu::Site site = emu::here()) { return inclusive_scan(group, value, plus<T>(), site); }
template <class Group, class T> inline T exclusive_scan(const Group& group, T value, emu::Site site = emu::here()) {
    T total = inclusive_scan(group, value, plus<T>(), site), before = group.shfl_up(total, 1, site);
    return group.thread_rank() ? before : T(0);
}

template <class Group> inline void sync(const Group& group, emu::Site site = emu::here()) { group.sync(site); }
template <class Group> inline auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> inline auto group_size(const Group& group) { return group.size(); }

template <class Group> inline void memcpy_async(const Group& group, void* to, const void* from, size_t bytes, emu::Site site = emu::here()) {
    const size_t step = (size_t(to) | size_t(from) | bytes) % 4 ? 1 : 4;
    for (size_t i = group.thread_rank() * step; i < bytes; i += group.size() * step) emu_copy_late((char*)to + i, (const char*)from + i, step, 0, site);
    emu_copies_commit();
}
template <class Group, class T> inline void memcpy_async(const Group& group, T* to, size_t room, const T* from, size_t count, emu::Site site = emu::here()) {
    memcpy_async(group, (void*)to, (const void*)from, (room < count ? room : count) * sizeof(T), site);
}
template <unsigned open, class Group> inline void wait_prior(const Group& group, emu::Site site = emu::here()) {
    emu_copies_wait(open);
    group.sync(site);
}
template <class Group> inline void wait(const Group& group, emu::Site site = emu::here()) { wait_prior<0>(group, site); }

}  // namespace cooperative_groups
