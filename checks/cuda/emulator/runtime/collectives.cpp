// What the lanes of a warp do together: an exchange takes place once every lane that its mask names,
// and that has not exited, has arrived at it.
#include <cstring>
#include "global.h"
#include "state.h"

namespace emu {
namespace {

constexpr uint64_t POISONED = 0x7ff8deadull << 32 | POISON;

bool together(const Fiber& a, const Fiber& b) {
    return a.op == b.op && a.kind == b.kind && a.mask == b.mask && a.where == b.where;
}

unsigned arrived_with(const Warp& warp, const Fiber& first) {
    unsigned lanes = 0;
    for (unsigned left = warp.collective; left; left &= left - 1) {
        unsigned l = unsigned(__builtin_ctz(left));
        if (together(lane_of(first, l), first)) lanes |= 1u << l;
    }
    return lanes;
}

// Source lane of a shuffle; its own lane where the source lies outside its segment.
unsigned source(const Fiber& f) {
    int width = f.width, lane = int(f.lane), start = lane & ~(width - 1), end = start + width;
    int from = lane;
    switch (f.kind) {
        case SHUFFLE_INDEX: from = start + (f.argument & (width - 1)); break;
        case SHUFFLE_UP: from = lane - f.argument >= start ? lane - f.argument : lane; break;
        case SHUFFLE_DOWN: from = lane + f.argument < end ? lane + f.argument : lane; break;
        default: from = (lane ^ f.argument) < end ? lane ^ f.argument : lane;
    }
    return unsigned(from) & 31u;
}

void shuffle(const Warp& warp, Fiber& f, unsigned lanes) {
    unsigned from = source(f);
    if (lanes >> from & 1) {
        f.result = lane_of(f, from).value;
        return;
    }
    f.result = POISONED;
    if (!(f.mask >> from & 1))
        report("unnamed_lane_read", HAZARD, f.where, 0, "lane %u reads lane %u, which mask 0x%08x does not name", f.lane, from, f.mask);
    else if (!(warp.alive >> from & 1))
        report("unnamed_lane_read", HAZARD, f.where, 0, "lane %u reads lane %u, which has exited or does not exist", f.lane, from);
}

uint64_t reduced(const Fiber& first, unsigned lanes) {
    uint32_t r = uint32_t(first.value);
    for (unsigned left = lanes & (lanes - 1); left; left &= left - 1) {
        uint32_t v = uint32_t(lane_of(first, unsigned(__builtin_ctz(left))).value);
        switch (first.kind) {
            case REDUCE_ADD: r += v; break;
            case REDUCE_MIN: r = v < r ? v : r; break;
            case REDUCE_MAX: r = v > r ? v : r; break;
            case REDUCE_MIN_SIGNED: r = int32_t(v) < int32_t(r) ? v : r; break;
            case REDUCE_MAX_SIGNED: r = int32_t(v) > int32_t(r) ? v : r; break;
            case REDUCE_AND: r &= v; break;
            case REDUCE_OR: r |= v; break;
            default: r ^= v;
        }
    }
    return r;
}

void match(Fiber& f, unsigned lanes) {
    unsigned same = 0;
    for (unsigned left = lanes; left; left &= left - 1) {
        unsigned l = unsigned(__builtin_ctz(left));
        if (lane_of(f, l).value == f.value) same |= 1u << l;
    }
    f.flag = same == lanes;
    f.result = f.kind == MATCH_ALL && same != lanes ? 0 : same;
}

uint64_t voted(const Fiber& first, unsigned lanes) {
    unsigned set = 0;
    for (unsigned left = lanes; left; left &= left - 1) {
        unsigned l = unsigned(__builtin_ctz(left));
        if (lane_of(first, l).value) set |= 1u << l;
    }
    switch (first.kind) {
        case VOTE_BALLOT: return set;
        case VOTE_ANY: return set != 0;
        case VOTE_ALL: return set == lanes;
        default: return set == 0 || set == lanes;
    }
}

uint64_t arrive(Op op, int kind, unsigned mask, uint64_t value, int argument, int width, Site site) {
    Fiber& self = *machine.current;
    settle_writes(true);
    settle_global(true);
    machine.idle = 0;
    Warp& warp = machine.warps[self.warp];
    self.op = op, self.kind = uint8_t(kind), self.mask = mask, self.value = value, self.argument = argument, self.width = width;
    self.where = interned(site);
    if (!(mask >> self.lane & 1)) {
        report("divergent_shuffle", FAULT, self.where, 0, "lane %u calls with mask 0x%08x, which does not name it", self.lane, mask);
        self.mask |= 1u << self.lane;
    }
    self.state = State::COLLECTIVE;
    warp.collective |= 1u << self.lane;
    warp.ready &= ~(1u << self.lane);
    complete(warp, self, 0);
    wait_here();
    return self.result;
}

}  // namespace

// Carries an exchange out if all have arrived, or for `lanes` alone where that is not 0.
void complete(Warp& warp, Fiber& first_seen, unsigned lanes) {
    if (!lanes) {
        unsigned named = first_seen.mask & warp.alive;
        if (named & ~warp.collective) return;
        lanes = arrived_with(warp, first_seen);
        if (named & ~lanes) return;
    }
    Fiber& first = lane_of(first_seen, unsigned(__builtin_ctz(lanes)));
    uint64_t common = first.op == Op::VOTE ? voted(first, lanes) : first.op == Op::REDUCE ? reduced(first, lanes) : 0;
    for (unsigned left = lanes; left; left &= left - 1) {
        Fiber& f = lane_of(first, unsigned(__builtin_ctz(left)));
        if (f.op == Op::SHUFFLE) shuffle(warp, f, lanes);
        else if (f.op == Op::MATCH) match(f, lanes);
        else f.result = common;
        f.state = State::READY;
    }
    warp.collective &= ~lanes;
    warp.ready |= lanes;
    joined(warp, first.warp * 32, lanes, first.op == Op::SYNC);
}

}  // namespace emu

using namespace emu;

extern "C" {

uint64_t emu_shuffle(Shuffle kind, unsigned mask, uint64_t value, int argument, int width, Site site) {
    return machine.current ? arrive(Op::SHUFFLE, kind, mask, value, argument, width, site) : value;
}

unsigned emu_vote(Vote kind, unsigned mask, int predicate, Site site) {
    return machine.current ? unsigned(arrive(Op::VOTE, kind, mask, predicate != 0, 0, 32, site)) : 0;
}

unsigned emu_match(Match kind, unsigned mask, uint64_t value, int* all, Site site) {
    if (!machine.current) return 0;
    unsigned found = unsigned(arrive(Op::MATCH, kind, mask, value, 0, 32, site));
    if (all) *all = machine.current->flag;
    return found;
}

unsigned emu_reduce(Reduce kind, unsigned mask, unsigned value, Site site) {
    return machine.current ? unsigned(arrive(Op::REDUCE, kind, mask, value, 0, 32, site)) : value;
}

void emu_syncwarp(unsigned mask, Site site) {
    if (machine.current) arrive(Op::SYNC, 0, mask, 0, 0, 32, site);
}

}
